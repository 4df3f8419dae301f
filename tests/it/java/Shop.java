import java.util.List;
import java.util.stream.IntStream;

/** Something to run under the agent: classes of all kinds, of which each run reaches others. */
public final class Shop {
    interface Animal {
        default String says() {
            return "nothing";
        }
    }

    enum Kind implements Animal {
        CAT {
            @Override
            public String says() {
                return "meow";
            }
        },
        DOG,
    }

    record Größe(int höhe, String 名前) implements Animal {
        Größe {
            if (höhe < 0) {
                throw new IllegalArgumentException("too small");
            }
        }
    }

    static class Empty {}

    public static void main(String[] args) {
        for (String arg : args) {
            switch (arg) {
                case "cat" -> System.out.println(Kind.CAT.says());
                case "dog" -> System.out.println(Kind.DOG.says());
                case "size" -> System.out.println(new Größe(arg.length(), "ポチ").says());
                case "empty" -> System.out.println(new Empty());
                default -> IntStream.range(0, 3).mapToObj(n -> List.of(n)).forEach(System.out::println);
            }
        }
    }
}
