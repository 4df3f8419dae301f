import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Does what each line of its standard input says, and says when it has: so that JVMs reach different parts of the same classes. */
public final class Pets {
    public static void main(String[] args) throws IOException {
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            switch (line) {
                case "cat":
                    Cat.meow();
                    break;
                case "dog":
                    Dog.bark();
                    break;
                default:
                    Fish.swim(Integer.parseInt(line));
            }
            System.out.println("done " + line);
        }
    }

    static final class Cat {
        static String meow() {
            return "meow";
        }
    }

    static final class Dog {
        static String bark() {
            return "woof";
        }
    }

    static final class Fish {
        static int swim(int way) {
            if (way == 1) {
                return 10;
            }
            if (way == 2) {
                return 20;
            }
            return 30;
        }
    }
}
