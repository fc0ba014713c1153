const demoLine = /^[ \t]*\[demo((?:[ \t]+\w+=[^\s\]]+)+)[ \t]*\][ \t]*$/m;

/** Returns the words of the `[demo …]` line in a text; undefined if there is no such line. */
export function findDemoWords(text: string): string | undefined {
  return demoLine.exec(text)?.[1];
}

export function removeDemoLine(text: string): string {
  return text.replace(demoLine, '').trim();
}
