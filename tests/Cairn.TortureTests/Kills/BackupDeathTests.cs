using System.Globalization;
using Cairn.Steps;
using Xunit.Abstractions;
using static Cairn.Steps.ProtocolStep;

namespace Cairn.TortureTests.Kills;

/// <summary>
/// A process is killed during a backup or a restore. The store continues as if nothing had happened. A file with the name of the backup or
/// of the restored store does not exist, or is complete.
/// </summary>
public sealed class BackupDeathTests(ITestOutputHelper output)
{
    // The steps of a restore. "None" represents any moment at which it reports progress.
    private static readonly ProtocolStep[] Restoring = [None, LogRecordReplayed, CloseFlushed, CloseMarked];

    [Fact]
    public void Death_in_a_backup_harms_neither_the_store_nor_the_backup_before()
    {
        var torture = new TortureRun(output);
        using var directory = new StoreDirectory();
        int found = 0;
        for (int death = 0; death < TortureRun.Count(6, 500); death++)
        {
            // Half of the victims die when the copying reports progress, the other half while others write, at any point of the copying.
            ProtocolStep step = death % 2 == 0 ? None : LogTailMoved;
            Die("backup-victim", directory.Path, step, torture.Random.Next(1, step == None ? 12 : 200), torture.Random);

            using CairnStore store = CairnStore.Open(LogRoles.OptionsFor(directory.Path));
            using var work = new LogWork(store, directory.Path);
            work.Check();
            LogReplay.Check(store, work.Collections);
            if (File.Exists(LogRoles.BackupOf(directory.Path)))
            {
                found++;
                CheckRestored(directory.Path);
            }
        }

        output.WriteLine($"{found} backups were there.");
    }

    [Fact]
    public void Death_in_a_restore_leaves_no_store_or_a_whole_one_and_the_backup_as_it_was()
    {
        var torture = new TortureRun(output);
        using var directory = new StoreDirectory();
        MakeBackup(directory.Path, torture.Random);
        byte[] backup = File.ReadAllBytes(LogRoles.BackupOf(directory.Path));
        foreach (ProtocolStep step in Enumerable.Range(0, TortureRun.Count(1, 50)).SelectMany(_ => Restoring))
        {
            Die("restore-victim", directory.Path, step, step is None or LogRecordReplayed ? torture.Random.Next(1, 3) : 1, torture.Random);

            StoreOptions options = LogRoles.RestoredIn(directory.Path);
            if (step == None && File.Exists(options.Path))
            {
                CheckStore(options, directory.Path); // The victim died when the restore reported its end.
            }

            Assert.Empty(Directory.GetFiles(directory.Path, Path.GetFileName(options.Path) + "*"));
            Assert.Equal(backup, File.ReadAllBytes(LogRoles.BackupOf(directory.Path)));
            CheckRestored(directory.Path);
        }
    }

    private static void MakeBackup(string directory, Random random)
    {
        using CairnStore store = CairnStore.Open(LogRoles.OptionsFor(directory));
        using var work = new LogWork(store, directory);
        for (int i = 0; i < 400; i++)
        {
            work.DoNext(random);
        }

        store.Backup(LogRoles.BackupOf(directory));
    }

    // A backup of any moment contains a whole transaction, or no part of it.
    private static void CheckRestored(string directory)
    {
        StoreOptions options = LogRoles.RestoredIn(directory);
        StoreMaintenance.Restore(LogRoles.BackupOf(directory), options);
        CheckStore(options, directory);
    }

    private static void CheckStore(StoreOptions options, string directory)
    {
        using (CairnStore store = CairnStore.Open(options))
        {
            using var work = new LogWork(store, directory);
            work.CheckWhole();
            StoreAudit.Check(store);
        }

        foreach (string file in Directory.GetFiles(directory, Path.GetFileName(options.Path) + "*"))
        {
            File.Delete(file);
        }
    }

    private static void Die(string role, string directory, ProtocolStep step, int reaches, Random random)
    {
        using ChildProcess victim = ChildProcess.Start(
            typeof(Program), role, directory, random.Next().ToString(CultureInfo.InvariantCulture), step.ToString(),
            reaches.ToString(CultureInfo.InvariantCulture));
        Assert.Equal((step, "dying"), (step, victim.ReadLine()));
        victim.Kill();
        victim.WaitForExit();
    }
}
