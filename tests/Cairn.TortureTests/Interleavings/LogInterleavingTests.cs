using System.Runtime.CompilerServices;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;
using Cairn.WriteAhead;
using Microsoft.Win32.SafeHandles;
using Xunit.Abstractions;
using static Cairn.Steps.ProtocolStep;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// The log, observed while it is written. It agrees with the partition, or an opening that takes over the partition knows the difference. A record
/// that is reported as durable is on the disk. Broken twins let a takeover find a record that does not exist, or miss one that exists. Others
/// report durability too early, or leave a waiter asleep.
/// </summary>
public sealed unsafe class LogInterleavingTests : IDisposable
{
    private const int Looks = 3;

    // More than the records of one run take.
    private const int ErasedBytes = 8 << 10;

    private static readonly byte[] Key = Stage.PinnedKey("key");
    private static readonly byte[] Other = Stage.PinnedKey("other");

    private readonly ITestOutputHelper _output;
    private readonly Stage _stage = new(openings: 2);
    private readonly CairnCollection[] _kept;
    private readonly SafeFileHandle _file;
    private readonly byte[] _buffer = new byte[ErasedBytes];
    private readonly long _keptTail;
    private readonly ulong _keptVersion;
    private readonly ulong _otherVersion;

    public LogInterleavingTests(ITestOutputHelper output)
    {
        _output = output;
        _kept = [.. Enumerable.Range(0, 2).Select(opening => _stage[opening].Collection("kept", new CollectionOptions { Region = StoreRegion.Keep }))];
        Assert.True(_kept[0].Set(Key, [1]));
        Assert.True(_kept[1].Set(Other, [1]));
        _stage.Keep();
        _keptTail = Block->Tail;
        _keptVersion = VersionOf(Key);
        _otherVersion = VersionOf(Other);
        _file = File.OpenHandle(LogPath.LogFile(_stage.Options.Path, Block->File0.Sequence), FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);
        ScheduledPlatform.Instance.TailOfLog = () => Block->Tail;
    }

    private LogBlock* Block => &_stage.Memory.Super->Log;

    public void Dispose()
    {
        ScheduledPlatform.Instance.TailOfLog = null;
        Reset();
        _stage.Dispose();
        _file.Dispose();
    }

    [Fact]
    public void Partition_agrees_with_the_log_or_its_takeover_repairs_it() =>
        Explore().ExpectHolds(() => Watched(() => Assert.True(_kept[0].Set(Key, [2]))));

    [Fact]
    public void The_same_holds_of_a_removal() => Explore().ExpectHolds(() => Watched(() => Assert.True(_kept[0].Remove(Key))));

    [Fact]
    public void The_same_holds_of_a_transaction() => Explore().ExpectHolds(() => Watched(
        () => Assert.True(_stage.Store.BeginTransaction().Set(_kept[0], Key, [2]).Set(_kept[0], Other, [3]).Commit())));

    [Fact]
    public void Acknowledged_writes_are_on_the_disk_and_every_waiting_writer_continues()
    {
        Explored explored = Explore().ExpectHolds(() => Arrange(
            FaultAtRest,
            () => Assert.True(_kept[0].Set(Key, [2])),
            () => Assert.True(_kept[1].Set(Other, [3]))));

        Assert.True(explored.Sleeps > 0);
    }

    [Fact]
    public void Tail_that_is_moved_before_its_record_is_written_is_caught() => ExpectCaught(LogDefect.MovesTailBeforeWriting);

    [Fact]
    public void Tail_that_is_moved_before_the_partition_is_notified_is_caught() => ExpectCaught(LogDefect.StoresPendingAfterTail);

    [Fact]
    public void Partition_that_forgets_its_record_before_it_shows_it_is_caught() => ExpectCaught(LogDefect.ClearsPendingBeforeSlot);

    [Fact]
    public void Value_that_is_shown_before_there_is_a_record_is_caught() => ExpectCaught(LogDefect.StoresSlotBeforeTail);

    [Fact]
    public void Synchronisation_that_reads_the_tail_too_late_is_caught() =>
        Explore().ExpectCaught(() => Synchronising(LogDefect.FlushesBeforeReadingTail));

    [Fact]
    public void Waiting_with_a_signal_that_is_read_late_is_caught() => Explore().ExpectCaught(() => Waiting(LogDefect.ReadsSignalLate));

    [Fact]
    public void Synchronisation_that_reports_to_no_reader_is_caught() => Explore().ExpectCaught(() => Waiting(LogDefect.RaisesNoSignal));

    [Fact]
    public void Twins_without_a_defect_hold()
    {
        Explore().ExpectHolds(() => Watched(() => BrokenSet(LogDefect.None)));
        Explore().ExpectHolds(() => Synchronising(LogDefect.None));
        Explore().ExpectHolds(() => Waiting(LogDefect.None));
    }

    private Exploration Explore([CallerMemberName] string test = "") => new(_output, test)
    {
        // Reading the index is one step, because the observer must see a single moment.
        Quiet = [ReadVersionLoaded, ReadSlotLoaded, ReadEntryFound, ReadEntryCopied, ReadValidated, BucketVersionRaised, TailStored, CountersStored],
        RandomOrders = TortureRun.Count(50, 20_000),
    };

    private void ExpectCaught(LogDefect defect, [CallerMemberName] string test = "") =>
        Explore(test).ExpectCaught(() => Watched(() => BrokenSet(defect)));

    private void BrokenSet(LogDefect defect) => BrokenLog.Set(_stage.Store.Engine, RefOf(Key), [2], defect);

    private KeyRef RefOf(byte[] key) => _stage.Store.Engine.Place((byte*)Unsafe.AsPointer(ref key[0]), key.Length, _kept[0].Number);

    // One actor acts. Between any two of its steps, the other reads the partition as a takeover at that moment would.
    private Scene Watched(Action act)
    {
        string? fault = null;
        return Arrange(() => fault ?? FaultOfTakeover(), act, () =>
        {
            for (int look = 0; look < Looks; look++)
            {
                fault ??= FaultOfTakeover();
                Schedule.Step();
            }
        });
    }

    private Scene Synchronising(LogDefect defect)
    {
        string? fault = null;
        return Arrange(
            () => fault ?? FaultAtRest(),
            () => Assert.True(_kept[0].Set(Key, [2])),
            () =>
            {
                BrokenLog.Synchronise(_stage[1].Engine, defect);
                fault = FaultOfDurable();
            });
    }

    // Waits for records that were appended before, while another actor flushes them to the disk.
    private Scene Waiting(LogDefect defect)
    {
        Scene scene = Arrange(
            FaultAtRest,
            () => BrokenLog.Wait(_stage.Store.Engine, Block->Tail, defect),
            () => BrokenLog.Synchronise(_stage[1].Engine, defect));
        BrokenSet(LogDefect.None);
        return scene;
    }

    private Scene Arrange(Func<string?> findFault, params Action[] actors)
    {
        Reset();
        ScheduledPlatform.Instance.FlushedTail = _keptTail;
        return new Scene(findFault, actors);
    }

    // Restores the store, and erases records of earlier runs behind its log.
    private void Reset()
    {
        _stage.Reset();
        Array.Clear(_buffer);
        RandomAccess.Write(_file, _buffer, OffsetOf(_keptTail));
    }

    private long OffsetOf(long position) => LogFileHeader.PageBytes + (position - Block->File0.StartPosition);

    private string? FaultAtRest() => FaultOfDurable() ?? FaultOfTakeover() ?? (Block->Durable == Block->Tail ? null : "Not all of it is on the disk.");

    private string? FaultOfDurable() =>
        Block->Durable <= ScheduledPlatform.Instance.FlushedTail
            ? null
            : $"The log is said to be on the disk up to {Block->Durable}, and is up to {ScheduledPlatform.Instance.FlushedTail}.";

    private string? FaultOfTakeover()
    {
        long pending = _stage.Partition->PendingRecord;
        long tail = Block->Tail;
        int bytes = RandomAccess.Read(_file, _buffer, OffsetOf(_keptTail));
        var versions = new Dictionary<string, ulong>(StringComparer.Ordinal);
        long last = 0;
        long position = _keptTail;
        while (position < tail)
        {
            if (!LogRecord.TryRead(_buffer.AsSpan(0, bytes)[(int)(position - _keptTail)..], Block->File0.Salt, position, out LogRecord record))
            {
                return $"The tail is at {tail}, and at {position} there is no record.";
            }

            last = position;
            position = record.End;
            Apply(record, versions);
        }

        bool isTold = pending != 0 && pending < tail && pending == last;
        foreach (byte[] key in new[] { Key, Other })
        {
            string name = System.Text.Encoding.UTF8.GetString(key);
            ulong shown = VersionOf(key);
            if (!isTold && shown != versions.GetValueOrDefault(name, key == Key ? _keptVersion : _otherVersion))
            {
                return $"The log and the partition differ about '{name}', and a process that takes over the partition would not know.";
            }
        }

        return null;
    }

    private static void Apply(in LogRecord record, Dictionary<string, ulong> versions)
    {
        if (record.Kind == LogKind.Transaction)
        {
            foreach (LogRecord operation in record)
            {
                Apply(operation, versions);
            }

            return;
        }

        fixed (byte* body = record.Body)
        {
            if (record.Kind == LogKind.Put)
            {
                var entry = new EntryView(body);
                versions[System.Text.Encoding.UTF8.GetString(entry.Key, entry.KeyLength)] = entry.Version;
            }
            else
            {
                versions[System.Text.Encoding.UTF8.GetString(record.Body)] = 0;
            }
        }
    }

    private ulong VersionOf(byte[] key)
    {
        KeyRef place = RefOf(key);
        return HashIndex.FindLocked(_stage.Memory, place.Place, place.Bytes, place.Length, place.Collection, out Located located) ? located.Entry.Version : 0;
    }
}
