import { Group, Stack, Text, Title } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { DocsLink } from './docs-link.tsx';

export interface PageProps {
  title: string;
  description?: string;
  actions?: ReactNode;
  children: ReactNode;
}

/**
 * The frame of every page. Sets the title of the browser's tab, and moves the focus to the heading, which a screen reader then announces.
 */
export function Page({ title, description, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Model Router`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div>
          <Title order={1} ref={heading} tabIndex={-1} className="page-title">
            {title}
          </Title>
          {description === undefined ? null : (
            <Text size="sm" c="dimmed">
              {description}
            </Text>
          )}
        </div>
        <Group gap="xs">
          {actions}
          <DocsLink />
        </Group>
      </Group>
      {children}
    </Stack>
  );
}
