const demoLine = /^[ \t]*\[demo((?:[ \t]+\w+=[^\s\]]+)+)[ \t]*\][ \t]*$/m;

/** The words of the `[demo …]` line of a text; undefined if it has none. */
export function demoWordsOf(text: string): string | undefined {
  return demoLine.exec(text)?.[1];
}

/** The text without its `[demo …]` line. */
export function withoutDemoLine(text: string): string {
  return text.replace(demoLine, '').trim();
}
