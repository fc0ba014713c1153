/** A minute of values as a small picture; what it shows is said in words beside it. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const top = Math.max(...values, 1e-9);
  const points = values.map((value, index) => `${index},${(40 - (value / top) * 38).toFixed(2)}`);
  const last = values.length - 1;
  return (
    <svg className="spark" viewBox={`0 0 ${last} 40`} preserveAspectRatio="none" aria-hidden="true">
      <path className="spark-area" d={`M0,40L${points.join('L')}L${last},40Z`} />
      <path className="spark-line" d={`M${points.join('L')}`} />
    </svg>
  );
}
