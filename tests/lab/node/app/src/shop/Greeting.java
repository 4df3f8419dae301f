package shop;

final class Greeting implements Counter {
  @Override
  public String serve(Query query) {
    String name = query.text("name", "stranger");
    switch (query.text("language", "en")) {
      case "de":
        return "Guten Tag, " + name;
      case "fr":
        return "Bonjour, " + name;
      default:
        return "Hello, " + name;
    }
  }
}
