export interface ChartPart {
  label: string;
  colour: string;
  value: number;
}

interface ChartPartsProps {
  parts: readonly ChartPart[];
  format: (value: number) => string;
}

/**
 * Shows the numbers of one bar and their sum. Coloured marks identify the groups. The text has the page's text colour, to stay readable.
 */
export function ChartTooltip({ title, parts, format }: ChartPartsProps & { title: string }) {
  const shownParts = parts.filter(({ value }) => value > 0).toReversed();
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  return (
    <div className="chart-tooltip">
      <strong>{title}</strong>
      <dl>
        {shownParts.map(({ label, colour, value }) => (
          <div key={label}>
            <dt>
              <span className="chart-mark" style={{ background: colour }} aria-hidden="true" />
              {label}
            </dt>
            <dd>{format(value)}</dd>
          </div>
        ))}
        <div className="chart-total">
          <dt>Total</dt>
          <dd>{format(total)}</dd>
        </div>
      </dl>
    </div>
  );
}

export function ChartLegend({ parts, format }: ChartPartsProps) {
  return (
    <ul className="chart-legend" aria-label="Groups of the chart">
      {parts.map(({ label, colour, value }) => (
        <li key={label}>
          <span className="chart-mark" style={{ background: colour }} aria-hidden="true" />
          {label}: {format(value)}
        </li>
      ))}
    </ul>
  );
}
