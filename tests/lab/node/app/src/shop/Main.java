package shop;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** A small shop: each path is answered by a class of its own, so that each request shows in the coverage of one pod. */
public final class Main {
  public static void main(String[] args) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(8080), 0);
    server.createContext("/healthz", exchange -> reply(exchange, 200, "ok"));
    server.createContext("/price", exchange -> answer(exchange, new Price()));
    server.createContext("/greet", exchange -> answer(exchange, new Greeting()));
    server.createContext("/order", exchange -> answer(exchange, new Order()));
    server.createContext("/names", exchange -> answer(exchange, new Names()));
    server.start();
    System.out.println("open");
  }

  private static void answer(HttpExchange exchange, Counter counter) throws IOException {
    try {
      reply(exchange, 200, counter.serve(Query.of(exchange.getRequestURI())));
    } catch (IllegalArgumentException wrong) {
      reply(exchange, 400, wrong.getMessage());
    }
  }

  private static void reply(HttpExchange exchange, int status, String text) throws IOException {
    byte[] body = (text + "\n").getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }
}
