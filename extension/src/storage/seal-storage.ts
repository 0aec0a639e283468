/**
 * Keeps `storage.local` from content scripts, which run in the processes of pages: a page that has captured its process could read
 * and change settings and the autopilot's log. The browser forgets it at its end. Firefox has this for `storage.session` alone.
 */
void chrome.storage.local.setAccessLevel?.({ accessLevel: 'TRUSTED_CONTEXTS' });
