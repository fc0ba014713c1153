const boundary = Buffer.from('\n\n');

/**
 * Returns the events of a stream section that follow an event.
 * @param last number of the section's last event; its events are numbered consecutively
 * @param after number of the event that they follow
 */
export function eventsAfter(bytes: Buffer, last: number, after: number): Buffer {
  const wanted = last - after;
  let at = bytes.length;
  for (let count = 0; count < wanted; count += 1) {
    // The end of the previous event: the last event may lack its empty line.
    const end = bytes.lastIndexOf(boundary, at - boundary.length - 1);
    if (end < 0) return bytes;
    at = end + boundary.length;
  }
  return bytes.subarray(at);
}
