package shop;

/** Where customers are served. */
interface Counter {
  String serve(Query query);
}
