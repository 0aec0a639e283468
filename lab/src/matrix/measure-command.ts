/** `npm run lab`: measures a matrix of pages, networks and protocols. */
import { resolve } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { counted } from '@hopwise/contract/terminal';
import { type NetworkProfile, networkOf, profileNamed, readProfiles } from '../client/networks.ts';
import { UserError } from '../command/errors.ts';
import { makeOutputFolder } from '../command/output-folder.ts';
import type { ProgramContext } from '../command/program.ts';
import { readAssignments } from './assignments.ts';
import { planLoads } from './matrix.ts';
import { openPages } from './matrix-page.ts';
import { measurePlan } from './measure-plan.ts';
import type { MatrixOptions } from './options.ts';
import type { MatrixResult } from './run-matrix.ts';

/**
 * @returns null when only the plan was asked for
 * @throws UserError with one line for an error that the user can fix
 */
export async function measureMatrix(
  options: MatrixOptions,
  context: ProgramContext,
): Promise<MatrixResult | null> {
  const profiles = profilesOf(options.networks, options.networkFile);
  const assignmentFile =
    options.assignments === undefined ? null : await readAssignments(options.assignments);
  const pages = await openPages(options.pages, context.signal);
  // A mistyped option leaves no folder behind.
  if (!options.plan) await makeOutputFolder(options.out);
  const networks = Object.fromEntries(
    Object.entries(profiles).map(([name, profile]) => [
      name,
      { title: profile.title, network: networkOf(profile) },
    ]),
  );
  const { stack, congestionControl, initialWindow, priorities } = options;
  return measurePlan(
    {
      ...options,
      title: [
        counted(pages.length, 'page'),
        counted(Object.keys(networks).length, 'network'),
        options.protocols.join(', '),
        counted(options.seeds.length, 'seed'),
        ...(options.views.length > 1 ? ['cold and warm'] : []),
      ].join(' × '),
      pages,
      networks,
      server: { stack, congestionControl, initialWindow, priorities },
      assignmentFile,
      loads: planLoads({
        ...options,
        pages: pages.map(({ name }) => name),
        networks: Object.keys(networks),
      }),
      onlyPlan: options.plan,
    },
    context,
  );
}

function profilesOf(names: string[], file: string | undefined): Record<string, NetworkProfile> {
  const profiles = { ...readProfiles(), ...(file === undefined ? {} : ownProfiles(file)) };
  if (names.includes('all')) return profiles;
  try {
    return Object.fromEntries(names.map((name) => [name, profileNamed(name, profiles)]));
  } catch (error) {
    throw new UserError(`--networks: ${firstLine(error)}, all`, 2);
  }
}

function ownProfiles(file: string): Record<string, NetworkProfile> {
  let profiles: Record<string, NetworkProfile>;
  try {
    profiles = readProfiles(resolve(file));
  } catch (error) {
    throw new UserError(`--network-file ${firstLine(error)}`, 2);
  }
  const known = readProfiles();
  const twin = Object.keys(profiles).find((name) => Object.hasOwn(known, name));
  if (twin !== undefined)
    throw new UserError(
      `--network-file ${file}: ${twin}: lab/networks.json already has that name: choose another`,
      2,
    );
  return profiles;
}
