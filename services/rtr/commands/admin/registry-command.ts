import { Command } from 'commander';
import { isMap, parseDocument, stringify } from 'yaml';
import { RouterError } from '#shared/core/errors.ts';
import { formatProblem, type RegistryProblem } from '#shared/registry/registry-problem.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import { buildPath } from './admin-client.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { readText } from './read-text.ts';

interface Registry {
  source: 'file' | 'store' | 'none';
  version: number;
  config: Record<string, unknown>;
  text?: string;
}

type FileOptions = AdminOptions & { file: string };

interface SetOptions {
  basedOn?: number;
  note?: string;
  empty?: true;
}

const parseVersion = createWholeNumberParser(1, 999_999_999);
const fileOption = ['-f, --file <file>', 'file with the registry; - for the standard input'] as const;

export function createRegistryCommand(run: RunAdminCommand): Command {
  const command = new Command('registry').description('see and change names of models, and the rules of auto');
  addCommand(command, 'show', 'print the registry, or one of its earlier versions')
    .argument('[version]', 'number of the version; the newest without it', parseVersion)
    .action((version: number | undefined, options: AdminOptions) =>
      run(options, async ({ client, print, json }) => {
        const registry = await client.get<Registry>(
          version === undefined ? '/registry' : buildPath`/registry/versions/${version}`,
        );
        if (!json && registry.source === 'none') return print('There is no registry, neither stored nor in a file.');
        print(json ? JSON.stringify(registry) : (registry.text ?? stringify(registry.config)).trimEnd());
      }),
    );
  addCommand(command, 'set', 'store a registry, which all nodes use within a second')
    .requiredOption(...fileOption)
    .option(
      '--based-on <version>',
      'version that was edited; the newest without it',
      createWholeNumberParser(0, 999_999_999),
    )
    .option('--note <text>', 'why, for the history')
    .option('--empty', 'store a file without any entries, which removes all names and rules')
    .action((options: FileOptions & SetOptions) => run(options, (context) => setRegistry(context, options)));
  addCommand(command, 'check', 'check whether a registry could be stored; exits with 1 if it could not')
    .requiredOption(...fileOption)
    .action((options: FileOptions) => run(options, (context) => checkRegistry(context, options)));
  return command;
}

async function setRegistry(
  context: AdminContext,
  { file: path, basedOn, note, empty }: FileOptions & SetOptions,
): Promise<void> {
  const { client } = context;
  const text = await readText(context, path);
  if (empty === undefined && isEmpty(text)) {
    const message = `${path} has no entries: storing it would remove all names and rules. Say so with --empty.`;
    throw new RouterError('invalid_request', message);
  }
  const editedVersion = basedOn ?? (await client.get<Registry>('/registry')).version;
  const { value } = await client.send<Registry>('PUT', '/registry', { body: { text, basedOn: editedVersion, note } });
  context.print(context.json ? JSON.stringify(value) : `Version ${value.version} is in use.`);
}

/** Whether the text of a file contains only comments, or an empty map. */
function isEmpty(text: string): boolean {
  const { contents, errors } = parseDocument(text);
  return errors.length === 0 && (contents === null || (isMap(contents) && contents.items.length === 0));
}

async function checkRegistry(context: AdminContext, { file: path }: FileOptions): Promise<void> {
  const { client, print, json, setExitCode } = context;
  const body = { text: await readText(context, path) };
  const { value } = await client.send<{ ok: boolean; problems: RegistryProblem[] }>('POST', '/registry/check', {
    body,
  });
  if (!value.ok) setExitCode(1);
  if (json) print(JSON.stringify(value));
  else if (value.ok) print(`${path} can be stored.`);
  else for (const problem of value.problems) print(`${path}: ${formatProblem(problem)}`);
}
