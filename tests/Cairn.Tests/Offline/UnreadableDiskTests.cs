using Cairn.Platform;

namespace Cairn.Tests.Offline;

/// <summary>A disk that fails to read a part of the file. No command reports the store as sound, or replaces it by what could be read.</summary>
public sealed class UnreadableDiskTests : StoreTest
{
    // The failures of this many reads are left out between two that are tried.
    private const int Step = 5;

    [Fact]
    public void Verification_during_which_any_read_fails_finds_no_sound_store()
    {
        FillStore();
        var disk = new UnreadableDisk(FilePath);
        Assert.True(disk.On(() => StoreMaintenance.Verify(FilePath)).IsSound);
        int reads = disk.Reads;

        Assert.InRange(reads, 100, 10_000);
        for (int failing = 1; failing <= reads; failing += Step)
        {
            disk.Restart(failing);
            VerifyReport report = disk.On(() => StoreMaintenance.Verify(FilePath));
            Assert.False(report.IsSound, $"Read {failing} failed.");
            Assert.DoesNotContain(report.Findings, finding => finding.Text.Contains("..", StringComparison.Ordinal));
        }
    }

    [Fact]
    public void Compaction_during_which_a_read_fails_keeps_every_entry_or_changes_nothing()
    {
        FillStore();
        byte[] before = File.ReadAllBytes(FilePath);
        var disk = new UnreadableDisk(FilePath);
        disk.On(() => StoreMaintenance.Compact(FilePath));
        int reads = disk.Reads;
        int failures = 0;

        for (int failing = 1; failing <= reads; failing += Step)
        {
            File.WriteAllBytes(FilePath, before);
            disk.Restart(failing);
            try
            {
                Assert.Equal(50, disk.On(() => StoreMaintenance.Compact(FilePath)).EntriesKept);
            }
            catch (StoreException)
            {
                failures++;
                Assert.Equal(before, File.ReadAllBytes(FilePath));
            }
        }

        Assert.NotEqual(0, failures);
    }

    private void FillStore()
    {
        using CairnStore store = CairnStore.Open(Options with { CapacityBytes = 2 << 20, FlushOnClose = true });
        for (int i = 0; i < 50; i++)
        {
            store.DefaultCollection.Set($"{i}", TestBytes.Of(1000));
        }
    }

    private sealed class UnreadableDisk(string path) : ProxyPlatform
    {
        private int _failing;

        public int Reads { get; private set; }

        public void Restart(int failing) => (Reads, _failing) = (0, failing);

        public override StoreFile Open(string name) => Wrap(name, base.Open(name));

        public override StoreFile OpenReadOnly(string name) => Wrap(name, base.OpenReadOnly(name));

        private StoreFile Wrap(string name, StoreFile file) => name == path ? new UnreadableFile(this, file) : file;

        private sealed class UnreadableFile(UnreadableDisk disk, StoreFile file) : ProxyFile(file)
        {
            public override int Read(long offset, Span<byte> buffer) => ++disk.Reads == disk._failing
                ? throw new StoreException($"Reading byte {offset} failed, because the test says so.")
                : base.Read(offset, buffer);
        }
    }
}
