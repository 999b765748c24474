using System.Runtime.InteropServices;
using Cairn.Concurrency;
using Cairn.Platform;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Tests.WriteAhead;

/// <summary>
/// An opening that failed, or a process that died while it closed the store, holds its owner slot a little longer than the gate. A child
/// process that has not started its own program yet keeps both.
/// </summary>
public sealed class LeaverTests : LoggedStoreTest
{
    private const long Slot = OwnerTable.GateByte + 1;

    [Fact]
    public async Task Opening_after_a_refused_one_that_still_holds_its_slot_waits_and_finds_everything()
    {
        WriteAndClose(flushes: false);
        LeaveHalfBuilt();

        CairnStore store = await OpenBesideLeaverAsync();

        Assert.Equal("Dune", TextOf(store.Collection("books"), "42"));
    }

    [Fact]
    public async Task Opening_after_a_close_whose_process_still_holds_its_slot_waits_and_marks_the_store_as_in_use()
    {
        WriteAndClose(flushes: true);

        CairnStore store = await OpenBesideLeaverAsync();

        Assert.Equal("Dune", TextOf(store.Collection("books"), "42"));
        Assert.Equal(Superblock.StateInUse, StateInFile());
    }

    [Fact]
    public void Process_that_keeps_a_store_half_built_is_an_error_that_says_what_to_do_and_nothing_is_lost()
    {
        WriteAndClose(flushes: false);
        LeaveHalfBuilt();
        using (HoldSlot())
        {
            StoreException refusal = Assert.Throws<StoreException>(() => OpenAfterRestart(Small));
            Assert.Contains("End that process, and open the store again", refusal.Message, StringComparison.Ordinal);
        }

        Assert.Equal("Dune", TextOf(OpenAfterRestart(Small).Collection("books"), "42"));
    }

    private void WriteAndClose(bool flushes)
    {
        CairnStore store = Open(Small with { FlushOnClose = flushes });
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Checkpoint();
        store.Dispose();
    }

    // The opening empties the store, refuses the damaged snapshot, and leaves.
    private void LeaveHalfBuilt()
    {
        byte[] whole = File.ReadAllBytes(SnapshotPath);
        File.WriteAllBytes(SnapshotPath, whole[..LogFileHeader.PageBytes]);
        Assert.Throws<StoreCorruptException>(() => OpenAfterRestart(Small));
        File.WriteAllBytes(SnapshotPath, whole);
        Assert.Equal(Superblock.StateResetting, StateInFile());
    }

    private async Task<CairnStore> OpenBesideLeaverAsync()
    {
        using StoreFile leaver = HoldSlot();
        Task<CairnStore> opening = OwnThread.Run(() => OpenAfterRestart(Small));
        await Task.WhenAny(opening, OwnThread.Run(() => Eventually.True(() => leaver.IsByteLockedByOther(OwnerTable.GateByte, 1))));
        leaver.UnlockByte(Slot);
        return await opening;
    }

    private StoreFile HoldSlot()
    {
        StoreFile leaver = HostPlatform.Current.Open(FilePath);
        Assert.True(leaver.TryLockByte(Slot));
        return leaver;
    }

    private uint StateInFile()
    {
        using StoreFile file = HostPlatform.Current.OpenReadOnly(FilePath);
        var state = new byte[sizeof(uint)];
        file.Read(Marshal.OffsetOf<Superblock>(nameof(Superblock.State)), state);
        return BitConverter.ToUInt32(state);
    }
}
