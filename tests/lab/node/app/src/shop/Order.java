package shop;

final class Order implements Counter {
  private static int last;

  @Override
  public String serve(Query query) {
    int count = query.number("count", 1);
    if (count < 1) {
      throw new IllegalArgumentException("order one at least");
    }
    int price = Price.of(query.text("pet", "cat"), count);
    return "order " + next() + ": " + price;
  }

  private static synchronized int next() {
    return ++last;
  }
}
