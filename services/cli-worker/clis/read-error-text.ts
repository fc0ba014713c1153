/** Returns the field `message` of a text that contains the body of an upstream's error. Returns any other text unchanged. */
export function readErrorText(message: string): string {
  const text = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
  return text === undefined ? message : (JSON.parse(text) as string);
}
