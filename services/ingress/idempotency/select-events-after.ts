const boundary = Buffer.from('\n\n');

/**
 * Returns those events of a section of a stream that follow an event.
 * @param last number of the last event of the section, whose events are numbered consecutively
 * @param after number of the event that the returned events follow
 */
export function selectEventsAfter(bytes: Buffer, last: number, after: number): Buffer {
  const wanted = last - after;
  let at = bytes.length;
  for (let count = 0; count < wanted; count += 1) {
    // Looks for the end of the previous event, because the last event may lack its empty line.
    const end = bytes.lastIndexOf(boundary, at - boundary.length - 1);
    if (end < 0) return bytes;
    at = end + boundary.length;
  }
  return bytes.subarray(at);
}
