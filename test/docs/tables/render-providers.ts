import { presets } from '#services/cloud-worker/providers/presets.ts';
import { engineHints, platformHints, type RequestRules } from '#services/cloud-worker/providers/request-rules.ts';

/** The rows of the documentation's table of providers: name, how it is turned on, format, what its rules do to a chat request. */
export function providerRows(): string[][] {
  return Object.entries(presets).map(
    ([name, { title, format, otherFormats = [], keyVariables, needs, rules, adaptation }]) => [
      `${title}: \`${name}\``,
      [keyVariables.map(code).join(' or '), needs.map(code).join(' and ')].filter((part) => part !== '').join(' with '),
      [format.name, ...otherFormats.map((each) => each.format.name)].join(', '),
      describeRules(rules, adaptation?.description),
    ],
  );
}

function describeRules(rules: RequestRules, further: string | undefined): string {
  const { maxTokens, rename = {}, drop = [], changeDeveloperToSystem, replayedThinking } = rules;
  const sentences: string[] = [];
  if (maxTokens !== undefined) sentences.push(`the limit of tokens is ${code(maxTokens)}`);
  for (const [from, to] of Object.entries(rename)) sentences.push(`${code(from)} is ${code(to)}`);
  if (changeDeveloperToSystem === true) sentences.push('`developer` is `system`');
  if (replayedThinking === 'none') sentences.push('without earlier thinking');
  else if (replayedThinking !== undefined) sentences.push(`earlier thinking is ${code(replayedThinking)}`);
  if (drop.length > 0) sentences.push(`without ${describeDrops(drop)}`);
  if (further !== undefined) sentences.push(further);
  return sentences.length === 0 ? 'as it came' : sentences.join('; ');
}

function describeDrops(drop: readonly string[]): string {
  const hints: string[] = [];
  let others = drop;
  for (const [name, group] of Object.entries({ 'platform hints': platformHints, 'engine hints': engineHints })) {
    if (!group.every((field) => drop.includes(field))) continue;
    hints.push(name);
    others = others.filter((field) => !group.includes(field));
  }
  return [...hints, ...others.map(code)].join(', ');
}

function code(text: string): string {
  return `\`${text}\``;
}
