import { spawnSync } from 'node:child_process';

/** Whether Prometheus and promtool are installed. */
export const hasPrometheus = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
);

if (!hasPrometheus) {
  console.warn('There is no Prometheus here, so its tests are skipped: bash test/helpers/deploy/get-prometheus.sh');
}
