/** What is bound under a key, binding it the first time. The keys are bounded by what they are made of. */
export function bound<Series>(series: Map<string, Series>, key: string, bind: () => Series): Series {
  let one = series.get(key);
  if (!one) {
    one = bind();
    series.set(key, one);
  }
  return one;
}
