import { PasswordInput } from '@mantine/core';

export interface PasswordFieldProps {
  label?: string;
  description?: string;
  /** Whether the person chooses a new password here. */
  isNew?: boolean;
  value: string;
  error?: string | undefined;
  onChange: (password: string) => void;
}

/** An input for a password, which password managers fill in. */
export function PasswordField({ label = 'Your password', isNew = false, onChange, ...props }: PasswordFieldProps) {
  return (
    <PasswordInput
      label={label}
      autoComplete={isNew ? 'new-password' : 'current-password'}
      required
      withAsterisk={false}
      {...(isNew && { minLength: 10, maxLength: 200 })}
      {...props}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
