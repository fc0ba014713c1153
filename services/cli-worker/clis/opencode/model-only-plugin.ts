import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Parameters of the model that a request sets. If a field is absent, opencode's value for the model applies. */
export interface ModelParameters {
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
}

/**
 * A plugin for opencode that replaces the system prompt with the client's, and sets the model's parameters. The worker sends both in the
 * `system` field of a prompt, after a random mark that no client can guess. The plugin sets no token limit if opencode sends none.
 */
const script = (mark: string): string => `const mark = ${JSON.stringify(mark)};
export const ModelOnly = async () => ({
  'experimental.chat.system.transform': async (_, output) => {
    const text = output.system.join('\\n');
    const at = text.indexOf(mark);
    const system = at === -1 ? '' : text.slice(text.indexOf('\\n', at) + 1);
    output.system.splice(0, output.system.length, ...(system === '' ? [] : [system]));
  },
  'chat.params': async ({ message }, output) => {
    const [first = ''] = (message.system ?? '').split('\\n', 1);
    if (!first.startsWith(mark)) return;
    const { maxOutputTokens, ...rest } = JSON.parse(first.slice(mark.length));
    if (maxOutputTokens !== undefined && output.maxOutputTokens !== undefined) output.maxOutputTokens = maxOutputTokens;
    Object.assign(output, rest);
  },
});
`;

export class ModelOnlyPlugin {
  /** URL of the plugin in opencode's settings. */
  readonly url: string;
  readonly #mark: string;

  private constructor(url: string, mark: string) {
    this.url = url;
    this.#mark = mark;
  }

  /** @param folder folder for the plugin's file */
  static async write(folder: string): Promise<ModelOnlyPlugin> {
    const file = join(folder, 'model-only.js');
    const mark = randomBytes(24).toString('base64url');
    await writeFile(file, script(mark));
    return new ModelOnlyPlugin(pathToFileURL(file).href, mark);
  }

  writeSystemField(text: string, parameters: ModelParameters): string {
    return `${this.#mark}${JSON.stringify(parameters)}\n${text}`;
  }
}

const packageDeclaration = { dependencies: { '@opencode-ai/plugin': '*' } };

/**
 * Makes opencode find the package that it would otherwise install before it loads a plugin. The package has 3,800 files, and installing it
 * takes some seconds. The worker's plugin does not need the package.
 * @param folder folder of opencode's settings
 */
export async function avoidPackageInstall(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  await Promise.all([
    writeFile(join(folder, 'package.json'), JSON.stringify(packageDeclaration)),
    writeFile(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': packageDeclaration } })),
  ]);
}
