/** The JSON of a list, with only the elements that fit into a number of bytes. */
export interface FittedJson {
  text: string;
  /** Number of elements that do not fit; absent if all fit. */
  leftOut?: number;
}

/**
 * Returns the JSON of a list with as many whole elements as fit; undefined for an empty list.
 * @param maxBytes largest number of bytes in UTF-8
 * @param end the end of the list from which elements are kept
 */
export function fitToBytes(list: readonly object[], maxBytes: number, end: 'first' | 'last'): FittedJson | undefined {
  if (list.length === 0) return undefined;
  const kept: string[] = [];
  let bytes = '[]'.length;
  for (const element of end === 'last' ? list.toReversed() : list) {
    const text = JSON.stringify(element);
    bytes += Buffer.byteLength(text) + (kept.length === 0 ? 0 : ','.length);
    if (bytes > maxBytes) break;
    kept.push(text);
  }
  if (end === 'last') kept.reverse();
  const leftOut = list.length - kept.length;
  return { text: `[${kept.join(',')}]`, ...(leftOut > 0 && { leftOut }) };
}
