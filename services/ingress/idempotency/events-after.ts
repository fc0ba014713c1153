const boundary = Buffer.from('\n\n');

/**
 * The events of a part of a stream that follow an event.
 * @param last number of the last event of the part, whose events are numbered one after the other
 * @param after number of the event that they follow
 */
export function eventsAfter(bytes: Buffer, last: number, after: number): Buffer {
  const wanted = last - after;
  let at = bytes.length;
  for (let count = 0; count < wanted; count += 1) {
    // The end of the event before: the last one may lack its empty line.
    const end = bytes.lastIndexOf(boundary, at - boundary.length - 1);
    if (end < 0) return bytes;
    at = end + boundary.length;
  }
  return bytes.subarray(at);
}
