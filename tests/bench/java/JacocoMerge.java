import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import org.jacoco.core.data.ExecutionData;
import org.jacoco.core.tools.ExecFileLoader;

/**
 * JaCoCo's own merge, in a JVM that stays: {@code JacocoMerge FOLDER OUTPUT}. Each line on standard input is a request to merge all
 * files of the folder into the output, which is answered with the nanoseconds, the classes and the probes that were hit.
 */
public final class JacocoMerge {
    public static void main(String[] args) throws IOException {
        File[] files = new File(args[0]).listFiles();
        File output = new File(args[1]);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
        while (requests.readLine() != null) {
            long start = System.nanoTime();
            ExecFileLoader loader = new ExecFileLoader();
            for (File file : files) {
                loader.load(file);
            }
            loader.save(output, false);
            long time = System.nanoTime() - start;
            long hit = 0;
            for (ExecutionData data : loader.getExecutionDataStore().getContents()) {
                for (boolean probe : data.getProbes()) {
                    hit += probe ? 1 : 0;
                }
            }
            System.out.println(time + " " + loader.getExecutionDataStore().getContents().size() + " " + hit);
        }
    }
}
