import { codeBlocks } from './pages.ts';

/** One simple command of a shell block: the variables set for it, and its words. */
export interface ShellCommand {
  variables: string[];
  words: string[];
}

/** The simple commands of a page's `sh` blocks. Understands what the pages use: comments, quotes, `\`, pipes, lists, loops. */
export function shellCommands(text: string): ShellCommand[] {
  const lines = codeBlocks(text, 'sh').flatMap((block) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  return lines.flatMap((line) => splitLine(line).map(toCommand)).filter(({ words }) => words.length > 0);
}

/** A line without its comment, cut at what separates commands. */
function splitLine(line: string): string[] {
  const parts = line.match(/'[^']*'?|"[^"]*"?|\s#.*|^#.*|&&|\|\||[|;&()]|[^'"\s|;&()]+|\s+/g) ?? [];
  const commands: string[][] = [[]];
  for (const part of parts) {
    if (/^\s*#/.test(part)) break;
    if (/^(?:&&|\|\||[|;&()])$/.test(part)) commands.push([]);
    else commands.at(-1)?.push(part);
  }
  return commands.map((words) => words.join('').trim());
}

function toCommand(text: string): ShellCommand {
  const words = [...text.matchAll(/(?:'[^']*'?|"[^"]*"?|[^\s'"])+/g)].map(([word]) => word.replaceAll(/['"]/g, ''));
  while (/^(?:do|then|for|until|while)$/.test(words[0] ?? '')) words.shift();
  const start = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const end = start < 0 ? words.length : start;
  return { variables: words.slice(0, end).map((word) => word.split('=')[0] ?? ''), words: words.slice(end) };
}
