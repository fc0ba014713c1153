const boundary = Buffer.from('\n\n');

/**
 * Returns the events that follow an event, out of a section of a stream with consecutively numbered events.
 * @param last number of the last event of the section
 * @param after number of the event that the returned events follow
 */
export function selectEventsAfter(bytes: Buffer, last: number, after: number): Buffer {
  const eventCount = last - after;
  let start = bytes.length;
  for (let count = 0; count < eventCount; count += 1) {
    // Looks for the end of the previous event, because the last event may lack its empty line.
    const end = bytes.lastIndexOf(boundary, start - boundary.length - 1);
    if (end < 0) return bytes;
    start = end + boundary.length;
  }
  return bytes.subarray(start);
}
