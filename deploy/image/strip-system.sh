#!/bin/sh
# Removes from a Debian with Node everything that a service never uses: npm and yarn, the package manager and its lists, documentation,
# translations, headers, and programs that change file systems. A shell, coreutils and certificates stay.
set -eu
rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* \
  /usr/local/include /usr/local/share /usr/local/CHANGELOG.md /usr/local/README.md /usr/local/LICENSE /opt/yarn* \
  /usr/share/doc /usr/share/man /usr/share/info /usr/share/locale /usr/share/i18n /usr/share/perl* /usr/share/bash-completion \
  /usr/lib/apt /usr/lib/dpkg /usr/lib/*/perl-base /usr/lib/*/libapt-* /usr/bin/apt* /usr/bin/dpkg* /usr/bin/perl* \
  /usr/lib/*/gconv /usr/lib/systemd /usr/lib/udev /etc/apt /etc/systemd /var/lib/apt /var/cache /var/log /var/lib/dpkg/info \
  /sbin/mkfs* /sbin/fsck* /sbin/mke2fs /sbin/e2* /sbin/tune2fs /sbin/resize2fs /sbin/debugfs /tmp/*
# Clears the setuid and setgid bits, so that every program runs as the user and group that start it.
find / -xdev -type f -perm /6000 -exec chmod a-s {} +
mkdir -p /data /tmp /var/log /var/cache
chmod 1777 /tmp
chown 1000:1000 /data
