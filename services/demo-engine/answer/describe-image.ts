/** An image in words: kind and size of one that came along, the host of one that is only linked. */
export function describeImage(url: string): string {
  const data = /^data:([^;]+);base64,/.exec(url);
  if (!data) return `a linked image from ${URL.canParse(url) ? new URL(url).host : 'an unknown host'}`;
  const bytes = Math.floor(((url.length - data[0].length) * 3) / 4) - (/=*$/.exec(url.slice(-2))?.[0].length ?? 0);
  return `${data[1]} of ${bytes} bytes`;
}
