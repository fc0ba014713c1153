import { Badge, Group, Text } from '@mantine/core';
import type { ServedModel } from '../../../contract/live.ts';
import { formatCount, formatDuration, formatMoney, formatShort } from '../../parts/format.ts';
import { describeOperations } from '../../parts/operations.ts';
import { TierMark, tierNames } from '../../parts/tier-mark.tsx';
import { RowName } from '../../parts/table/row-parts.tsx';

type ServingTier = ServedModel['servedBy'][number];

export function ModelName({ model: { id, kind, notPermitted } }: { model: ServedModel }) {
  return (
    <RowName name={id}>
      {kind === 'auto' ? <Badge variant="default">any suitable model</Badge> : null}
      {kind === 'registered' ? <Badge variant="default">registered name</Badge> : null}
      {notPermitted ? <Badge color="gray">not permitted to you</Badge> : null}
    </RowName>
  );
}

export function ServedBy({ model: { kind, servedBy } }: { model: ServedModel }) {
  return (
    <>
      {servedBy.map(({ tier, workers, models }) => (
        <Text key={tier} size="sm" component="div" {...(kind === 'model' ? {} : { title: models.join(', ') })}>
          <TierMark tier={tier} /> {workers} {workers === 1 ? 'worker' : 'workers'}
        </Text>
      ))}
    </>
  );
}

const maxShownOperations = 2;

export function Operations({ model: { operations } }: { model: ServedModel }) {
  const hiddenCount = operations.length - maxShownOperations;
  return (
    <Text size="sm" title={describeOperations(operations)}>
      {describeOperations(operations.slice(0, maxShownOperations))}
      {hiddenCount > 0 ? ` and ${hiddenCount} more` : ''}
    </Text>
  );
}

export function Capabilities({ names }: { names: readonly string[] }) {
  return (
    <Group gap={4}>
      {names.map((name) => (
        <Badge key={name} variant="default" fw={500}>
          {name}
        </Badge>
      ))}
    </Group>
  );
}

/** Shows the prices per million input and output tokens. If several tiers serve the model, each tier has a line. */
export function Prices({ model: { servedBy } }: { model: ServedModel }) {
  return (
    <>
      {servedBy.map((servingTier) => (
        <Text key={servingTier.tier} size="sm" component="div">
          {servedBy.length > 1 ? `${tierNames[servingTier.tier]}: ` : ''}
          <Price servingTier={servingTier} />
        </Text>
      ))}
    </>
  );
}

function Price({ servingTier: { price, unpriced = [], models, tier } }: { servingTier: ServingTier }) {
  if (price) return `${formatMoney(price.input)} in, ${formatMoney(price.output)} out`;
  if (unpriced.length > 0) {
    return (
      <Badge
        variant="dot"
        color="yellow"
        tt="none"
        title={`No price is known for ${unpriced.join(', ')}: no cost is counted.`}
      >
        {unpriced.length === models.length ? 'unpriced' : `${unpriced.length} unpriced`}
      </Badge>
    );
  }
  return models.length > 1 ? 'by model' : tier === 'gpu' ? 'none: own hardware' : 'none';
}

/** Shows the speed in the last hour. If several tiers serve the model, each measured tier has a line. */
export function Speed({ model: { servedBy } }: { model: ServedModel }) {
  const measuredTiers = servedBy.filter(({ speed }) => speed !== undefined);
  if (measuredTiers.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        not measured
      </Text>
    );
  }
  return measuredTiers.map(({ tier, speed }) =>
    speed ? (
      <Text
        key={tier}
        size="sm"
        component="div"
        title={`Medians of ${formatCount(speed.answers)} streamed answers within the last hour`}
      >
        {servedBy.length > 1 ? `${tierNames[tier]}: ` : ''}
        {formatShort(speed.tokensPerSecond)} tokens/s, first after {formatDuration(speed.firstTokenMs)}
      </Text>
    ) : null,
  );
}
