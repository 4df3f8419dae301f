package shop;

final class Price implements Counter {
  @Override
  public String serve(Query query) {
    return String.valueOf(of(query.text("pet", "cat"), query.number("count", 1)));
  }

  static int of(String pet, int count) {
    int each;
    switch (pet) {
      case "cat":
        each = 30;
        break;
      case "dog":
        each = 50;
        break;
      default:
        throw new IllegalArgumentException("no such pet: " + pet);
    }
    int price = each * count;
    if (count >= 3) {
      price -= price / 10;
    }
    return price;
  }
}
