using System.Globalization;
using Cairn.Platform;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Tests.Engine;

/// <summary>Files of Net.DistributedFileStoreCache.</summary>
public sealed class OldFormatTests : IDisposable
{
    private readonly CacheFile _file = new();
    private readonly ManualClock _clock = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public void Old_file_is_read_as_it_is_and_converted_by_the_first_change()
    {
        long soon = _clock.Now.AddMinutes(1).UtcTicks;
        string old = """{"Cache":{"a":"1","b":"\u0022two\u0022","c":"3"},"TimeOuts":{"b":SOON,"c":1}}"""
            .Replace("SOON", soon.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal);
        _file.Text = old;
        DistributedFileStoreCacheString cache = Open();

        Assert.Equal("1", cache.Get("a"));
        Assert.Equal("\"two\"", cache.Get("b"));
        Assert.Null(cache.Get("c"));
        Assert.Equal(old, _file.Text);

        cache.Set("d", "4");

        Assert.StartsWith("{\"format\":", _file.Text, StringComparison.Ordinal);
        Assert.Equal(old, File.ReadAllText(_file.FilePath + ".backup"));
        DistributedFileStoreCacheString fresh = Open();
        Assert.Equal(3, fresh.GetAllKeyValues().Count);
        _clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Null(fresh.Get("b"));
    }

    [Theory]
    [InlineData("""{"Cache":{"a":"1"}}""")]
    [InlineData("""{"Cache":{"a":"1"},"TimeOuts":{}}""")]
    [InlineData("""{"TimeOuts":null,"Cache":{"a":"1"}}""")]
    [InlineData("{\n  \"Cache\": {\n    \"a\": \"1\"\n  },\n  \"TimeOuts\": {}\n}")]
    public void Old_file_with_and_without_TimeOuts_is_read(string old)
    {
        _file.Text = old;

        Assert.Equal("1", Open().Get("a"));
    }

    [Theory]
    [InlineData("{}")]
    [InlineData("""{"Cache":{}}""")]
    [InlineData("""{"Cache":{},"TimeOuts":{}}""")]
    public void Old_file_without_entries_is_an_empty_cache(string old)
    {
        _file.Text = old;
        DistributedFileStoreCacheString cache = Open();

        Assert.Empty(cache.GetAllKeyValues());
        cache.Set("a", "1");
        Assert.Equal("1", Open().Get("a"));
    }

    [Fact]
    public void File_of_version_1_is_read_as_it_is_and_rewritten_by_the_first_change_without_a_backup()
    {
        const string Old = """
            {"format":"cairn.filestore/1","entries":[
            {"key":"a","value":"1"},
            {"key":"b","value":{"MyInt":3},"expires":"2930-01-01T00:00:00.0000000Z"},
            {"key":"c","bytes":"AAEC"},
            {"key":"d","value":"4"},
            {"key":"d","removed":true}
            ]}

            """;
        _file.Text = Old;
        DistributedFileStoreCacheString cache = Open();
        DistributedFileStoreCacheString other = Open();

        Assert.Equal(["a", "b", "c"], cache.GetAllKeyValues().Keys);
        Assert.Equal(3, other.GetAllKeyValues().Count);
        Assert.Equal(Old, _file.Text);
        cache.Set("e", "5");

        Assert.Equal(
            """
            {"format":"cairn.filestore/2","entries":[
            ["a","1"],
            ["b",{"MyInt":3},"2930-01-01T00:00:00Z"],
            {"key":"c","bytes":"AAEC"},
            ["e","5"]
            ]}

            """,
            _file.Text);
        Assert.Equal("5", other.Get("e"));
        other.Set("f", "6");
        Assert.EndsWith("[\"e\",\"5\"],\n[\"f\",\"6\"]\n]}\n", _file.Text, StringComparison.Ordinal);
        Assert.Equal(5, Open().GetAllKeyValues().Count);
        Assert.DoesNotContain(_file.FileNames, name => name.Contains("backup", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("{\"key\":\"a\",\"value\":\"1\"},\n{\"key\":\"b\",\"val")]
    [InlineData("{\"key\":\"a\",\"value\":\"1\"}\n]}")]
    public void File_of_version_1_never_gets_entries_of_version_2_behind_its_header(string entries)
    {
        _file.Text = "{\"format\":\"cairn.filestore/1\",\"entries\":[\n" + entries;
        DistributedFileStoreCacheString cache = Open();

        Assert.Equal("1", cache.Get("a"));
        cache.Set("c", "3");

        Assert.StartsWith("{\"format\":\"cairn.filestore/2\"", _file.Text, StringComparison.Ordinal);
        Assert.Equal(2, Open().GetAllKeyValues().Count);
    }

    [Fact]
    public void Conversion_that_fails_leaves_no_backup_and_the_next_one_makes_it()
    {
        const string Old = """{"Cache":{"a":"1"}}""";
        _file.Text = Old;
        var disk = new FailingDisk();
        DistributedFileStoreCacheString cache = Open();

        for (int attempt = 0; attempt < 3; attempt++)
        {
            Assert.Throws<IOException>(() => disk.On(() =>
            {
                cache.Set("b", "2");
                return 0;
            }));
        }

        Assert.Equal(Old, _file.Text);
        Assert.DoesNotContain(_file.FileNames, name => name.Contains("backup", StringComparison.Ordinal) || name.EndsWith(".rewriting", StringComparison.Ordinal));
        cache.Set("b", "2");
        Assert.Equal(Old, File.ReadAllText(_file.FilePath + ".backup"));
    }

    [Fact]
    public void Backup_that_cannot_be_completed_does_not_get_its_name()
    {
        _file.Text = """{"Cache":{"a":"1"}}""";
        Directory.CreateDirectory(_file.FilePath + ".rewriting");

        Assert.ThrowsAny<Exception>(() => Open().Set("b", "2"));

        Assert.False(File.Exists(_file.FilePath + ".backup"));
    }

    [Fact]
    public void Earlier_backup_is_kept()
    {
        File.WriteAllText(_file.FilePath + ".backup", "earlier");
        _file.Text = """{"Cache":{"a":"1"}}""";

        Open().Set("b", "2");

        Assert.Equal("earlier", File.ReadAllText(_file.FilePath + ".backup"));
        Assert.Equal("""{"Cache":{"a":"1"}}""", File.ReadAllText(_file.FilePath + ".backup2"));
    }

    [Fact]
    public void Old_file_that_was_cut_short_is_not_overwritten()
    {
        const string Torn = """{"Cache":{"a":"1","b":"tw""";
        _file.Text = Torn;
        DistributedFileStoreCacheString cache = Open();

        Assert.Equal(1, Assert.Throws<FileStoreFormatException>(() => cache.Set("c", "3")).Line);

        Assert.Equal(Torn, _file.Text);
    }

    private DistributedFileStoreCacheString Open() => _file.Open(options => options.TimeProvider = _clock);

    private sealed class FailingDisk : ProxyPlatform
    {
        public override void FlushFile(SafeFileHandle file, string what) => throw FileFailures.NotFlushed(what, "the test says so");
    }
}
