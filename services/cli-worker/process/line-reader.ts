import { LineSplitter } from './line-splitter.ts';

/** Takes a program's output in pieces and hands on its lines. What `onLine` throws is thrown on. */
export function lineReader(onLine: (line: string) => void): (chunk: Buffer) => void {
  const splitter = new LineSplitter();
  return (chunk) => {
    for (const line of splitter.push(chunk)) onLine(line);
  };
}
