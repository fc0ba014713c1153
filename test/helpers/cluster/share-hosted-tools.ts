import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ServiceProcess } from '../processes/start-process.ts';
import { until } from '../until.ts';
import { commonIngress } from './common-ingress.ts';
import { shareCluster, type SharedCluster } from './share-cluster.ts';

/** A shared cluster whose ingress runs hosted tools for engines that have none, by `mcp-test-server.ts`. */
export interface HostedTools {
  cluster: SharedCluster;
  /** An ingress of the cluster without such tools. */
  withoutTools: string;
  toolsWorker: ServiceProcess;
  /** The file in which the MCP server notes its calls. */
  diary: string;
}

export async function shareHostedTools(): Promise<HostedTools> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-hosted-tools-'));
  const diary = join(folder, 'diary');
  writeFileSync(diary, '');
  const args = [resolve('test/helpers/upstreams/mcp-test-server.ts'), diary];
  const config = join(folder, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { 'my pages': { command: 'node', args } } }));
  const { url: withoutTools } = await shareCluster();
  const cluster = await shareCluster({ ingress: commonIngress() });
  const toolsWorker = await cluster.addToolsWorker({ MCP_CONFIG: config });
  await until(async () => {
    const headers = { authorization: `Bearer ${cluster.key}` };
    return (await (await fetch(`${cluster.url}/api/tools/v1/list`, { headers })).text()).includes('find_pages');
  });
  return { cluster, withoutTools, toolsWorker, diary };
}
