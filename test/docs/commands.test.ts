import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { logins } from '#services/cli-worker/clis/logins.ts';
import { batchRunnerConfig } from '#services/batch-runner/config.ts';
import { cliWorkerConfig } from '#services/cli-worker/config.ts';
import { cloudWorkerConfig } from '#services/cloud-worker/config.ts';
import { presets } from '#services/cloud-worker/providers/presets.ts';
import { demoEngineSettings } from '#services/demo-engine/config.ts';
import { gpuWorkerConfig } from '#services/gpu-worker/config.ts';
import { ingressConfig } from '#services/ingress/config.ts';
import { adminSettings, clientSettings, upSettings } from '#services/rtr/config.ts';
import { toolsWorkerConfig } from '#services/tools-worker/config.ts';
import { useScriptedCluster } from '../helpers/cluster/start-scripted-cluster.ts';
import { rtrProgram } from '../helpers/rtr/rtr-program.ts';
import { codeBlocks, readPages } from './pages.ts';

const pages = readPages();
const commands = pages.flatMap(({ path, text }) => shellCommands(text).map((command) => ({ path, ...command })));

describe('the commands in the documentation', () => {
  it('run only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const ofNpm = commands.filter(({ words }) => words[0] === 'npm' && words[1] !== 'install');
    const mentioned = pages.flatMap(({ text }) => [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name));
    const named = [...ofNpm.map(({ words }) => (words[1] === 'run' ? words[2] : words[1])), ...mentioned];
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => name === undefined || !(name in scripts))).toEqual([]);
  });

  it('give rtr only commands and options that it has', async () => {
    const program = await rtrProgram();
    const given = commands.flatMap(({ path, words }) => {
      const args = argumentsOfRtr(words);
      return args ? [{ path, args }] : [];
    });
    expect(given.length).toBeGreaterThan(20);
    const wrong = given.map(({ path, args }) => ({ path, args: args.join(' '), mistake: mistakeIn(program, args) }));
    expect(wrong.filter(({ mistake }) => mistake !== undefined)).toEqual([]);
  });

  it('name in sentences only commands that rtr has', async () => {
    const program = await rtrProgram();
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`(?:npx )?rtr ([^`]*)`/g)].map(([, words = '']) => ({ path, words })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ words }) => findCommand(program, words.split(' ')).rest === undefined)).toEqual([]);
  });
});

describe('the variables in the documentation', () => {
  it('exist in a configuration, or belong to a program that the page runs', () => {
    const workers = [gpuWorkerConfig, cliWorkerConfig, cloudWorkerConfig, toolsWorkerConfig];
    const settings = [ingressConfig, batchRunnerConfig, upSettings, clientSettings, adminSettings, demoEngineSettings];
    const known = new Set([
      ...[...workers, ...settings].flatMap(({ shape }) => Object.keys(shape)),
      ...Object.values(presets).flatMap(({ keyVariables, needs }) => [...keyVariables, ...needs]),
      ...Object.values(logins).flatMap(({ keyVariables: keys }) => keys),
      ...[...readFileSync('docker-compose.yml', 'utf8').matchAll(/\$\{(\w+)/g)].map(([, name]) => name),
      // A placeholder, and examples of a server's token and of a client's secret.
      'X_FILE',
      'WIKI_TOKEN',
      'TRACKER_SECRET',
      'COMPANY_SECRET',
      // Read by OpenAI's SDKs.
      'OPENAI_BASE_URL',
      'OPENAI_WEBHOOK_SECRET',
      // Read by Claude Code, redis-cli, Node, and npm in the image's build.
      'ANTHROPIC_BASE_URL',
      'CLAUDE_CODE_DISABLE_1M_CONTEXT',
      'CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY',
      'CLAUDE_CODE_GATEWAY_HINT_HEADERS',
      'CLAUDE_CODE_MAX_CONTEXT_TOKENS',
      'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
      'REDISCLI_AUTH',
      'NODE_COMPILE_CACHE',
      'NODE_EXTRA_CA_CERTS',
      // Where programs of Linux keep their data.
      'XDG_DATA_HOME',
      'NPM_CONFIG_REGISTRY',
    ]);
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/(?<![\w.-])[A-Z][A-Z\d]*(?:_[A-Z\d]+)+(?![\w-])/g)].map(([name]) => ({ path, name })),
    );
    expect(named.length).toBeGreaterThan(200);
    // OpenTelemetry's variables are read by its own packages.
    expect(named.filter(({ name }) => !known.has(name) && !name.startsWith('OTEL_'))).toEqual([]);
  });
});

describe('the paths in the documentation', () => {
  const cluster = useScriptedCluster({}, {});

  it('are served by an ingress', async () => {
    const named = pages.flatMap(({ text }) => [...text.matchAll(/`(GET|POST) (\/[^`\s]+)`/g)]);
    const ofCurl = commands.filter(({ words }) => words[0] === 'curl').map(({ words }) => requestOfCurl(words));
    const requests = [...ofCurl, ...named.map(([, method = '', path = '']) => ({ method, path, port: 8484 }))];
    expect(requests.length).toBeGreaterThan(10);
    const headers = { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' };
    const answers = await Promise.all(
      requests.map(async ({ method, path, port }) => {
        const base = port === 8485 ? cluster.adminUrl : cluster.url;
        const body = method === 'POST' && { body: '{}' };
        const answer = await fetch(base + path.replace('{id}', 'demo'), { method, headers, ...body });
        return { method, path, status: answer.status, text: await answer.text() };
      }),
    );
    // Of a stored response, a file or a batch that is not there, the path is served nevertheless.
    const isUnserved = ({ status, text }: { status: number; text: string }): boolean =>
      status === 405 || (status === 404 && !/(?:with id 'demo'|(?:object|found): demo|the batch demo)/.test(text));
    expect(answers.filter(isUnserved)).toEqual([]);
  });
});

function requestOfCurl(words: readonly string[]) {
  const url = new URL(words.find((word) => word.startsWith('http')) ?? '');
  return { method: words.includes('-d') ? 'POST' : 'GET', path: url.pathname, port: Number(url.port) };
}

/** What follows `rtr` in a command, however it is run. */
function argumentsOfRtr(words: readonly string[]): string[] | undefined {
  if (words[0] === 'npx' && words[1] === 'rtr') return words.slice(2);
  if (words[0] === 'rtr') return words.slice(1);
  const after = (word: string, next?: string): string[] | undefined => {
    const at = words.findIndex((each, index) => each === word && (next === undefined || words[index + 1] === next));
    return at < 0 ? undefined : words.slice(at + (next === undefined ? 1 : 2));
  };
  if (words[0] === 'kubectl') return after('--', 'rtr');
  if (words[0] !== 'docker') return undefined;
  if (words.includes('--entrypoint'))
    return words[words.indexOf('--entrypoint') + 1] === 'rtr' ? after('prepare') : undefined;
  return words[1] === 'run' ? after('model-router') : undefined;
}

/** The command that words name, and the words after its name; undefined when there is no such command. */
function findCommand(program: Command, words: readonly string[]): { command: Command; rest: string[] | undefined } {
  let command = program;
  for (const [at, word] of words.entries()) {
    const next = command.commands.find((each) => each.name() === word);
    if (next) command = next;
    else return { command, rest: command.commands.length === 0 ? words.slice(at) : undefined };
  }
  return { command, rest: command === program ? undefined : [] };
}

function mistakeIn(program: Command, args: readonly string[]): string | undefined {
  const { command, rest } = findCommand(program, args);
  if (rest === undefined || command.commands.length > 0) return 'no such command';
  const silent = { writeErr: () => undefined };
  try {
    const { operands, unknown } = command.exitOverride().configureOutput(silent).parseOptions(rest);
    if (unknown.length > 0) return `unknown: ${unknown.join(' ')}`;
    const isGiven = (...names: (string | undefined | null)[]) => names.some((name) => name && rest.includes(name));
    const missing = command.options.find(({ mandatory, long, short }) => mandatory && !isGiven(long, short));
    if (missing) return `${missing.flags} is missing`;
    const { registeredArguments } = command;
    const isEndless = registeredArguments.at(-1)?.variadic === true;
    if (!isEndless && operands.length > registeredArguments.length) return 'too many arguments';
    const wrong = registeredArguments.find(({ required, argChoices }, at) => {
      const operand = operands[at];
      return operand === undefined ? required : argChoices !== undefined && !argChoices.includes(operand);
    });
    return wrong && `wrong argument: ${wrong.name()}`;
  } catch (error) {
    return String(error);
  }
}

/** The simple commands of a page's `sh` blocks. Understands what the pages use: comments, quotes, `\`, pipes, lists, loops. */
function shellCommands(text: string): { words: string[] }[] {
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

/** The words of a command, without the variables that are set for it. */
function toCommand(text: string): { words: string[] } {
  const words = [...text.matchAll(/(?:'[^']*'?|"[^"]*"?|[^\s'"])+/g)].map(([word]) => word.replaceAll(/['"]/g, ''));
  while (/^(?:(?:do|then|for|until|while)$|[A-Za-z_]\w*=)/.test(words[0] ?? '')) words.shift();
  return { words };
}
