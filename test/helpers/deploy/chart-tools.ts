import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { Rendered } from './kubernetes-objects.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');

export const chartFolder = join(root, 'deploy', 'kubernetes', 'model-router');

/** Complete example values files of the chart. */
export const examples = ['small', 'production', 'scale-to-zero'] as const;

export function exampleFile(name: string): string {
  return join(root, 'deploy', 'kubernetes', 'examples', `${name}.yaml`);
}

/** Arguments of helm for an Ingress. */
export const withIngress = [
  '--set-json',
  'ingress.ingress={"enabled":true,"hosts":[{"host":"llm.example.com","tlsSecret":"llm-tls"}]}',
];

/** The folder of helm, kubeconform and the object descriptions; undefined where they are not installed. */
export const chartTools: string | undefined =
  execFileSync('bash', [join(root, 'test/helpers/deploy/get-kubernetes-tools.sh'), '--look'], {
    encoding: 'utf8',
  }).trim() || undefined;

export interface ToolResult {
  succeeded: boolean;
  out: string;
  err: string;
}

/** Runs one of the tools in the project's folder. */
export async function runChartTool(tool: 'helm' | 'kubeconform', args: readonly string[]): Promise<ToolResult> {
  if (chartTools === undefined) throw new Error('helm and kubeconform are not installed');
  const options = { cwd: root, maxBuffer: 64 * 1024 ** 2, timeout: 60_000 };
  try {
    const { stdout: out, stderr: err } = await run(join(chartTools, tool), args, options);
    return { succeeded: true, out, err };
  } catch (error) {
    const { stdout: out, stderr: err } = error as { stdout: string; stderr: string };
    return { succeeded: false, out, err };
  }
}

/**
 * Renders the chart as `helm template rtr --namespace llm` does.
 * @throws Error with helm's output
 */
export async function renderChart(...args: readonly string[]): Promise<{ text: string; objects: Rendered[] }> {
  const words = ['template', 'rtr', chartFolder, '--namespace', 'llm', ...args];
  const { succeeded, out, err } = await runChartTool('helm', words);
  if (!succeeded) throw new Error(err);
  return {
    text: out,
    objects: parseAllDocuments(out).flatMap((document) => (document.toJS() as Rendered | null) ?? []),
  };
}
