import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;

/** Posts files one after the other with the JDK's own client as it comes: it offers HTTP/2 with each request. */
public class PostEvents {
    public static void main(String[] arguments) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (int index = 1; index < arguments.length; index++) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0]))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofFile(Path.of(arguments[index])))
                    .build();
            System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
        }
    }
}
