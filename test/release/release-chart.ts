import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chartFolder, chartTools, exampleFile, examples } from '../helpers/deploy/chart-tools.ts';
import { schemaPath, writeKubernetesSchemas } from '../helpers/deploy/kubernetes-schemas.ts';
import { runTool } from './run-tool.ts';

/** Packs the Helm chart, then renders each example from the file, and checks the objects against their schemas. */
export async function releaseChart(folder: string, version: string): Promise<void> {
  if (chartTools === undefined) throw new Error('helm is missing: test/helpers/deploy/get-kubernetes-tools.sh');
  const helm = join(chartTools, 'helm');
  await runTool(helm, ['package', chartFolder, '--destination', folder]);
  const chart = join(folder, `model-router-${version}.tgz`);
  const work = mkdtempSync(join(tmpdir(), 'rtr-chart-'));
  try {
    writeKubernetesSchemas(chartTools, work);
    for (const name of examples) {
      const rendered = join(work, `${name}.yaml`);
      writeFileSync(rendered, await runTool(helm, ['template', 'rtr', chart, '--values', exampleFile(name)]));
      await runTool(join(chartTools, 'kubeconform'), ['-strict', '-schema-location', join(work, schemaPath), rendered]);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
