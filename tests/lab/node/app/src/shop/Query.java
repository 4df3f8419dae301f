package shop;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/** What a request asks: {@code ?pet=cat&count=2}. */
final class Query {
  private final Map<String, String> values = new HashMap<>();

  static Query of(URI uri) {
    Query query = new Query();
    if (uri.getQuery() != null) {
      for (String pair : uri.getQuery().split("&")) {
        int equals = pair.indexOf('=');
        if (equals > 0) {
          query.values.put(pair.substring(0, equals), pair.substring(equals + 1));
        }
      }
    }
    return query;
  }

  String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  int number(String name, int otherwise) {
    String value = values.get(name);
    return value == null ? otherwise : Integer.parseInt(value);
  }
}
