using System.Runtime.InteropServices;
using Cairn.Engine;
using Cairn.Platform;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Tests.WriteAhead;

/// <summary>Damage to acknowledged records is an error when the log is read. The store does not lose a record silently.</summary>
public sealed class LogDamageTests : LoggedStoreTest
{
    private const int Writes = 200;

    private static readonly CollectionOptions Urgent = Logged with { Durability = Durability.EveryOperation };

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Bit_that_changed_in_the_last_piece_is_an_error_that_says_what_to_do(int seed)
    {
        var random = new Random(seed);
        FillAndStop(Options, Writes);
        string piece = FilePath + ".log-0000000001";
        long end = LogReplay.Of(FilePath).End;
        for (int flip = 0; flip < 6; flip++)
        {
            long at = random.NextInt64(LogFileHeader.PageBytes, end);
            Flip(piece, at);

            RequireRefusalOrEverything(Options, Path.GetFileName(piece));

            Flip(piece, at);
        }

        using CairnStore whole = OpenAfterRestart(Options);
        RequireEverything(whole);
    }

    [Theory]
    [InlineData(long.MaxValue)]
    [InlineData(long.MinValue)]
    [InlineData(0)]
    public async Task Record_is_found_in_bounded_time_whatever_the_map_says_about_the_files(long sequence)
    {
        using CairnStore store = CairnStore.Open(Options);
        store.Collection("books", Logged).Set("key", [1]);
        StoreLog log = store.Engine.WriteAhead;
        Damage(log, sequence);

        bool isFound = await Task.Run(() => log.TryRead(LogPath.FirstPosition, out _, out _)).WaitAsync(TimeSpan.FromMinutes(1));

        Assert.True(isFound);

        static unsafe void Damage(StoreLog log, long sequence) => log.Block->File0.Sequence = log.Block->File1.Sequence = sequence;
    }

    [Fact]
    public void Last_record_that_was_acknowledged_is_not_a_torn_tail()
    {
        FillAndStop(Options, Writes);
        string piece = FilePath + ".log-0000000001";
        Flip(piece, LogReplay.Of(FilePath).End - 100);

        Assert.Throws<StoreCorruptException>(() => OpenAfterRestart(Options));
    }

    [Fact]
    public void Compaction_of_a_closed_store_leaves_the_damage_of_its_log_behind()
    {
        FillAndStop(Options, Writes);
        Flip(FilePath + ".log-0000000001", LogReplay.Of(FilePath).End - 100);
        Assert.False(StoreMaintenance.Verify(FilePath).IsSound);

        StoreMaintenance.Compact(FilePath);

        Assert.True(StoreMaintenance.Verify(FilePath).IsSound);
        using (CairnStore compacted = CairnStore.Open(Options))
        {
            RequireEverything(compacted);
        }

        Assert.True(StoreMaintenance.Verify(FilePath).IsSound);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Piece_that_is_missing_is_an_error_that_names_it(bool hasSnapshot)
    {
        FillAndStop(Small, Writes, hasSnapshot);
        string[] names = [.. LogNames];
        Assert.True(names.Length > 2);
        foreach (string name in names)
        {
            File.Move(PathOf(name), PathOf("moved"));

            StoreException refused = Assert.ThrowsAny<StoreException>(() => OpenAfterRestart(Small));

            RequireAdvice(refused, name);
            File.Move(PathOf("moved"), PathOf(name));
        }

        using CairnStore whole = OpenAfterRestart(Small);
        RequireEverything(whole);
    }

    [Fact]
    public void Only_piece_that_is_missing_is_an_error_that_names_it()
    {
        FillAndStop(Options, Writes);
        File.Delete(FilePath + ".log-0000000001");

        RequireAdvice(Assert.ThrowsAny<StoreException>(() => OpenAfterRestart(Options)), "store.cairn.log-0000000001");
    }

    [Fact]
    public void Piece_that_was_cut_is_an_error_that_names_it()
    {
        FillAndStop(Small, Writes);
        var random = new Random(5);
        foreach (string name in LogNames.ToArray())
        {
            byte[] whole = File.ReadAllBytes(PathOf(name));
            for (int cut = 0; cut < 4; cut++)
            {
                File.WriteAllBytes(PathOf(name), whole[..random.Next(whole.Length)]);

                RequireRefusalOrEverything(Small, name);
            }

            File.WriteAllBytes(PathOf(name), whole);
        }
    }

    [Fact]
    public void Snapshot_that_is_missing_is_an_error_that_names_it()
    {
        FillAndStop(Options, Writes, hasSnapshot: true);
        File.Delete(SnapshotPath);

        RequireAdvice(Assert.ThrowsAny<StoreException>(() => OpenAfterRestart(Options)), "store.cairn.snapshot");
    }

    [Fact]
    public void Piece_that_was_cut_while_the_machine_runs_is_created_again_from_the_map()
    {
        FillAndStop(Small, Writes);
        string last = PathOf(LogNames.Last());
        File.WriteAllBytes(last, File.ReadAllBytes(last)[..5000]);

        using (CairnStore store = Open(Small with { FlushOnClose = false }))
        {
            RequireEverything(store);
            store.Collection("books").Set("after", [1]);
        }

        using CairnStore after = OpenAfterRestart(Small);
        RequireEverything(after);
        Assert.Equal([1], after.Collection("books").Get("after"));
    }

    [Fact]
    public void Damage_to_the_log_while_the_machine_runs_costs_nothing_until_the_log_is_needed()
    {
        FillAndStop(Options, Writes);
        Flip(FilePath + ".log-0000000001", 20_000);

        using (CairnStore store = Open(Options with { FlushOnClose = false }))
        {
            Assert.Empty(store.Warnings);
            RequireEverything(store);
        }

        Assert.Throws<StoreCorruptException>(() => OpenAfterRestart(Options));
    }

    [Fact]
    public void Record_that_no_flush_has_returned_for_may_be_torn_and_the_warning_says_so()
    {
        CairnStore store = Open(Options);
        CairnCollection books = store.Collection("books", Urgent);
        books.Set("0", ValueOf(0));
        StoreEngine.BeginDeferring();
        books.Set("1", ValueOf(1));
        string copy = CopyFiles();
        StoreEngine.EndDeferring();
        Flip(copy + ".log-0000000001", LogReplay.Of(copy).End - 100);

        using CairnStore after = OpenAfterRestart(Options with { Path = copy });

        Assert.Equal(ValueOf(0), after.Collection("books").Get("0"));
        Assert.Null(after.Collection("books").Get("1"));
        Assert.Contains("copy.cairn.log-0000000001' ends with a record that is not whole", after.Warnings[^1], StringComparison.Ordinal);
    }

    [Fact]
    public void Damage_is_refused_again_and_again_and_nothing_is_lost_by_that()
    {
        FillAndStop(Options, Writes);
        string piece = FilePath + ".log-0000000001";
        Flip(piece, 20_000);
        for (int i = 0; i < 3; i++)
        {
            Assert.Throws<StoreCorruptException>(() => OpenAfterRestart(Options));
        }

        Flip(piece, 20_000);

        using CairnStore whole = OpenAfterRestart(Options);
        RequireEverything(whole);
    }

    [Fact]
    public void Log_of_a_lost_store_shows_damage_by_itself()
    {
        FillAndStop(Small, Writes);
        File.Delete(FilePath);
        StoreOptions target = Options with { Path = PathOf("new.cairn") };
        string first = PathOf(LogNames.First());
        foreach (string name in LogNames.ToArray())
        {
            string given = name == Path.GetFileName(first) ? PathOf(LogNames.Last()) : first;
            Flip(PathOf(name), 6000);
            RequireAdvice(Assert.Throws<StoreCorruptException>(() => StoreMaintenance.Restore(given, target)), name);
            Flip(PathOf(name), 6000);

            File.Move(PathOf(name), PathOf("moved"));
            RequireAdvice(Assert.Throws<StoreCorruptException>(() => StoreMaintenance.Restore(given, target)), name);
            File.Move(PathOf("moved"), PathOf(name));
        }

        Assert.Empty(StoreMaintenance.Restore(first, target).LeftOut);
    }

    [Fact]
    public void Last_record_of_a_log_that_was_closed_is_known_without_the_store()
    {
        FillAndStop(Options, Writes);
        File.Delete(FilePath);
        string piece = FilePath + ".log-0000000001";
        Flip(piece, LogReplay.Of(FilePath).End - 100);

        Assert.Throws<StoreCorruptException>(() => StoreMaintenance.Restore(piece, Options with { Path = PathOf("new.cairn") }));
    }

    [Fact]
    public void Only_the_last_flush_of_a_lost_store_that_was_not_closed_looks_like_a_torn_tail()
    {
        CairnStore store = Open(Options);
        CairnCollection books = store.Collection("books", Urgent);
        books.Set("0", ValueOf(0));
        books.Set("1", ValueOf(1));
        string copy = CopyFiles();
        string piece = copy + ".log-0000000001";
        long end = LogReplay.Of(copy).End;
        File.Delete(copy);
        Flip(piece, end - 100);

        RestoreReport report = StoreMaintenance.Restore(piece, Options with { Path = PathOf("new.cairn") });

        Assert.Equal(1, report.Entries);
        Assert.Contains("not whole", Assert.Single(report.LeftOut), StringComparison.Ordinal);
        Flip(piece, end - 100);
        Flip(piece, end - 1200);
        Assert.Throws<StoreCorruptException>(() => StoreMaintenance.Restore(piece, Options with { Path = PathOf("other.cairn") }));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Salvaging_takes_all_that_is_whole_and_lists_the_rest(bool hasSnapshot)
    {
        FillAndStop(Small, Writes, hasSnapshot);
        string[] names = [.. LogNames];
        Flip(PathOf(names[0]), 6000);
        File.Delete(PathOf(names[1]));

        RestoreReport report = StoreMaintenance.Salvage(PathOf(names[0]), Options with { Path = PathOf("new.cairn") });

        Assert.Contains(report.LeftOut, text => text.Contains(names[0], StringComparison.Ordinal));
        Assert.Contains(report.LeftOut, text => text.Contains(names[1], StringComparison.Ordinal));
        using CairnStore salvaged = Open(Options with { Path = PathOf("new.cairn") });
        CairnCollection books = salvaged.Collection("books");
        int whole = Enumerable.Range(0, Writes).Count(i => books.Get($"{i}") is { } value && value.AsSpan().SequenceEqual(ValueOf(i)));
        Assert.InRange(whole, Writes - 70, Writes - 40);
        Assert.Equal(report.Entries, whole);
    }

    [Fact]
    public void Salvaging_does_without_a_file_whose_header_is_damaged()
    {
        FillAndStop(Small, Writes, hasSnapshot: true);
        Flip(SnapshotPath, 100);

        RestoreReport report = StoreMaintenance.Salvage(SnapshotPath, Options with { Path = PathOf("new.cairn") });

        Assert.Contains(report.LeftOut, text => text.Contains("store.cairn.snapshot", StringComparison.Ordinal));
        Assert.InRange(report.Entries, Writes / 2, Writes);
    }

    [Fact]
    public void Salvaging_takes_all_that_is_whole_of_a_backup()
    {
        using CairnStore store = Open(Options);
        CairnCollection books = store.Collection("books", Logged);
        for (int i = 0; i < Writes; i++)
        {
            books.Set($"{i}", ValueOf(i));
        }

        store.Backup(PathOf("backup"));
        Flip(PathOf("backup"), 50_000);
        StoreOptions target = Options with { Path = PathOf("new.cairn") };

        Assert.Throws<StoreCorruptException>(() => StoreMaintenance.Restore(PathOf("backup"), target));
        RestoreReport report = StoreMaintenance.Salvage(PathOf("backup"), target);

        Assert.NotEmpty(report.LeftOut);
        Assert.InRange(report.Entries, Writes - 2, Writes - 1);
    }

    [Fact]
    public void Log_of_the_first_version_is_read_and_gone_on_with_in_pieces_of_the_present_one()
    {
        FillAndStop(Small, Writes / 2);
        MakeFirstVersion();

        using (CairnStore store = OpenAfterRestart(Small with { FlushOnClose = false }))
        {
            CairnCollection books = store.Collection("books");
            for (int i = Writes / 2; i < Writes; i++)
            {
                books.Set($"{i}", ValueOf(i));
            }
        }

        using CairnStore after = OpenAfterRestart(Small);
        RequireEverything(after);
        Assert.Equal(
            [LogFileHeader.FirstVersion, LogFileHeader.CurrentVersion],
            LogFileSet.Find(HostPlatform.Current, FilePath).Files.Select(file => file.Header.FormatVersion).Distinct());
    }

    [Fact]
    public void Log_of_the_first_version_is_gone_on_with_after_a_clean_close()
    {
        StoreOptions options = Options with { FlushOnClose = true };
        using (CairnStore store = Open(options))
        {
            store.Collection("books", Urgent).Set("0", ValueOf(0));
        }

        MakeFirstVersion();
        using (CairnStore store = Open(options))
        {
            store.Collection("books").Set("1", ValueOf(1));
        }

        using CairnStore again = OpenAfterRestart(options);
        Assert.Equal(ValueOf(1), again.Collection("books").Get("1"));
        Assert.Equal(LogFileHeader.FirstVersion, Assert.Single(LogFileSet.Find(HostPlatform.Current, FilePath).Files).Header.FormatVersion);
    }

    [Fact]
    public void Log_of_a_later_version_is_refused_with_both_versions_named()
    {
        FillAndStop(Options, 2);
        Rewrite(FilePath + ".log-0000000001", version: LogFileHeader.CurrentVersion + 1);

        StoreVersionException refused = Assert.Throws<StoreVersionException>(() => OpenAfterRestart(Options));

        Assert.Contains("3", refused.Message, StringComparison.Ordinal);
        Assert.Contains("2", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Store_whose_log_is_of_a_later_version_is_compacted_and_the_log_is_left_to_that_version()
    {
        FillAndStop(Options, 2);
        string log = FilePath + ".log-0000000001";
        Rewrite(log, version: LogFileHeader.CurrentVersion + 1);
        byte[] before = File.ReadAllBytes(log);

        Assert.Equal(2, StoreMaintenance.Compact(FilePath).EntriesKept);

        Assert.Equal(before, File.ReadAllBytes(log));
        Assert.Throws<StoreVersionException>(() => OpenAfterRestart(Options));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Verifying_finds_what_reading_the_log_would_refuse(bool hasSnapshot)
    {
        FillAndStop(Small, Writes, hasSnapshot);
        RequireFound(null);
        var random = new Random(6);
        string last = LogNames.Last();
        long end = LogReplay.Of(FilePath).End - LogFileSet.Find(HostPlatform.Current, FilePath).Files[^1].Header.StartPosition;

        // The snapshot replaces the records before it.
        foreach (string name in hasSnapshot ? [Path.GetFileName(SnapshotPath), last] : LogNames.ToArray())
        {
            long at = LogFileHeader.PageBytes + (name == last ? end - 100 : random.Next(5_000));
            Flip(PathOf(name), at);
            RequireFound(name);
            Flip(PathOf(name), at);

            File.Move(PathOf(name), PathOf("moved"));
            RequireFound(name);
            File.Move(PathOf("moved"), PathOf(name));
        }

        RequireFound(null);
    }

    [Fact]
    public void Verifying_leaves_the_log_of_a_store_in_use_alone_and_says_so()
    {
        FillAndStop(Options, Writes);
        Flip(FilePath + ".log-0000000001", 20_000);
        using CairnStore store = Open(Options);

        VerifyFinding note = Assert.Single(StoreMaintenance.Verify(FilePath).Findings, finding => finding.Area == VerifyArea.Log);

        Assert.Equal(VerifySeverity.Note, note.Severity);
        Assert.Contains("in use", note.Text, StringComparison.Ordinal);
    }

    private void RequireFound(string? name)
    {
        VerifyFinding[] found = [.. StoreMaintenance.Verify(FilePath).Findings.Where(finding => finding.Area == VerifyArea.Log)];
        Assert.Equal(name is not null, found.Length > 0);
        if (name is not null)
        {
            Assert.Contains(found, finding => finding.Severity == VerifySeverity.Damage && finding.Text.Contains(name, StringComparison.Ordinal));
            Assert.Contains(found, finding => finding.Text.Contains("cairn restore", StringComparison.Ordinal));
        }
    }

    // Converts the files to the first version, which has no marks in the map and none in the records.
    private void MakeFirstVersion()
    {
        foreach (string name in LogNames.ToArray())
        {
            Rewrite(PathOf(name), LogFileHeader.FirstVersion);
        }

        using FileStream file = File.Open(FilePath, FileMode.Open);
        file.Position = Marshal.OffsetOf<Superblock>(nameof(Superblock.Log)) + Marshal.OffsetOf<LogBlock>(nameof(LogBlock.DurableMark));
        file.Write(new byte[3 * sizeof(ulong)]);
    }

    private static unsafe void Rewrite(string path, uint version)
    {
        byte[] bytes = File.ReadAllBytes(path);
        Assert.True(LogFileHeader.TryRead(bytes, out LogFileHeader header));
        var page = bytes.AsSpan(0, LogFileHeader.PageBytes);
        var keyBlock = new ReadOnlySpan<byte>(header.KeyBlock, LogFileHeader.KeyBlockBytes);
        LogFileHeader.Write(
            page, LogFileKind.Log, header.LogId, header.Salt, header.Sequence, header.StartPosition, header.CreatedUnixMs, keyBlock,
            version == LogFileHeader.FirstVersion ? 0 : header.FileBytes, version);
        long position = header.StartPosition;
        while (LogRecord.TryRead(bytes.AsSpan((int)LogReader.OffsetOf(header, position)), header.Salt, position, out LogRecord record))
        {
            byte[] body = record.Body.ToArray();
            LogRecord.Write(
                bytes.AsSpan((int)LogReader.OffsetOf(header, position)), header.Salt, position, record.Kind, record.Collection, record.Place, body);
            position += LogRecord.SizeOf(body.Length);
        }

        File.WriteAllBytes(path, bytes);
    }

    // Copies the files in their state while the store is open.
    private string CopyFiles()
    {
        foreach (string path in Directory.GetFiles(DirectoryPath, "store.cairn*"))
        {
            File.Copy(path, PathOf(Path.GetFileName(path).Replace("store.", "copy.", StringComparison.Ordinal)));
        }

        return PathOf("copy.cairn");
    }

    // Fills the store and stops as a machine that stops without closing the store.
    private void FillAndStop(StoreOptions options, int writes, bool hasSnapshot = false)
    {
        CairnStore store = Open(options with { FlushOnClose = false });
        CairnCollection books = store.Collection("books", Urgent);
        for (int i = 0; i < writes; i++)
        {
            if (hasSnapshot && i == 20)
            {
                store.Checkpoint();
            }

            books.Set($"{i}", ValueOf(i));
        }

        store.Dispose();
    }

    private void RequireRefusalOrEverything(StoreOptions options, string name)
    {
        try
        {
            using CairnStore store = OpenAfterRestart(options with { FlushOnClose = false });
            RequireEverything(store);
        }
        catch (StoreException refused)
        {
            RequireAdvice(refused, name);
        }
    }

    private static void RequireEverything(CairnStore store)
    {
        CairnCollection books = store.Collection("books");
        Assert.All(Enumerable.Range(0, Writes), i => Assert.Equal(ValueOf(i), books.Get($"{i}")));
    }

    private static void RequireAdvice(StoreException refused, string name)
    {
        Assert.Contains(name, refused.Message, StringComparison.Ordinal);
        Assert.Contains("cairn restore", refused.Message, StringComparison.Ordinal);
    }

    private static byte[] ValueOf(int i) => TestBytes.Of(1000, i);

    private static void Flip(string path, long at)
    {
        using FileStream file = File.Open(path, FileMode.Open);
        file.Position = at;
        int value = file.ReadByte();
        file.Position = at;
        file.WriteByte((byte)(value ^ 0x10));
    }
}
