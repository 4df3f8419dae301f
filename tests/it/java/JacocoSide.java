import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Locale;
import org.jacoco.core.data.ExecutionData;
import org.jacoco.core.data.ExecutionDataReader;
import org.jacoco.core.data.ExecutionDataStore;
import org.jacoco.core.data.ExecutionDataWriter;
import org.jacoco.core.data.SessionInfo;
import org.jacoco.core.data.SessionInfoStore;

/**
 * What JaCoCo itself makes of execution data, for all cases of a file: {@code JacocoSide INPUT OUTPUT}.
 *
 * <p>A case is any number of lines {@code stream HEX}, which are united, and {@code end}. It is answered with
 *
 * <ul>
 *   <li>for each stream: {@code refused ID NAME PROBES} for each class that does not match, {@code broken EXCEPTION} if it is not
 *       read to its end, and {@code again HEX}: the stream as JaCoCo writes it
 *   <li>for all of them: {@code session ID START DUMP} and {@code class ID NAME PROBES} for each, and {@code union HEX}: the union as
 *       JaCoCo writes it
 *   <li>{@code end}
 * </ul>
 *
 * Strings are their UTF-16 units, four hexadecimal digits each.
 */
public final class JacocoSide {
    private static final HexFormat HEX = HexFormat.of();

    private final PrintWriter out;
    private SessionInfoStore sessions = new SessionInfoStore();
    private ExecutionDataStore classes = new ExecutionDataStore();

    private JacocoSide(PrintWriter out) {
        this.out = out;
    }

    public static void main(String[] args) throws IOException {
        try (BufferedReader in = Files.newBufferedReader(Path.of(args[0]));
                PrintWriter out = new PrintWriter(Files.newBufferedWriter(Path.of(args[1])))) {
            JacocoSide side = new JacocoSide(out);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith("stream ")) {
                    side.stream(HEX.parseHex(line.substring("stream ".length())));
                } else {
                    side.end();
                }
            }
        }
    }

    private void stream(byte[] bytes) throws IOException {
        ByteArrayOutputStream again = new ByteArrayOutputStream();
        ExecutionDataWriter writer = new ExecutionDataWriter(again);
        ExecutionDataReader reader = new ExecutionDataReader(new ByteArrayInputStream(bytes));
        reader.setSessionInfoVisitor(session -> {
            writer.visitSessionInfo(session);
            sessions.visitSessionInfo(session);
        });
        reader.setExecutionDataVisitor(data -> {
            writer.visitClassExecution(data);
            try {
                classes.put(data);
            } catch (IllegalStateException mismatch) {
                out.println("refused " + text(data));
            }
        });
        try {
            reader.read();
        } catch (IOException | RuntimeException | OutOfMemoryError broken) {
            out.println("broken " + broken);
        }
        writer.flush();
        out.println("again " + HEX.formatHex(again.toByteArray()));
    }

    private void end() throws IOException {
        for (SessionInfo session : sessions.getInfos()) {
            out.println("session " + units(session.getId()) + " " + session.getStartTimeStamp() + " "
                    + session.getDumpTimeStamp());
        }
        classes.getContents().stream()
                .sorted(Comparator.comparing(ExecutionData::getId, Long::compareUnsigned))
                .forEach(data -> out.println("class " + text(data)));
        ByteArrayOutputStream union = new ByteArrayOutputStream();
        ExecutionDataWriter writer = new ExecutionDataWriter(union);
        sessions.accept(writer);
        classes.accept(writer);
        writer.flush();
        out.println("union " + HEX.formatHex(union.toByteArray()));
        out.println("end");
        sessions = new SessionInfoStore();
        classes = new ExecutionDataStore();
    }

    private static String text(ExecutionData data) {
        StringBuilder probes = new StringBuilder();
        for (boolean hit : data.getProbes()) {
            probes.append(hit ? '1' : '0');
        }
        return String.format(Locale.ROOT, "%016x %s %s", data.getId(), units(data.getName()), probes);
    }

    private static String units(String text) {
        StringBuilder units = new StringBuilder();
        text.chars().forEach(unit -> units.append(String.format(Locale.ROOT, "%04x", unit)));
        return units.toString();
    }
}
