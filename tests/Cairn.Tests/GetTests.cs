using System.Buffers;

namespace Cairn.Tests;

/// <summary>The operations that read one value.</summary>
public sealed class GetTests : StoreTest
{
    [Fact]
    public void Value_is_copied_to_the_beginning_of_the_destination()
    {
        Cache.Set("book:42", "Dune"u8);
        var destination = new byte[8];

        Assert.True(Cache.TryGet("book:42", destination, out int bytesWritten));

        Assert.Equal(4, bytesWritten);
        Assert.Equal("Dune\0\0\0\0"u8, destination);
    }

    [Fact]
    public void Destination_that_is_too_short_reports_the_length_needed()
    {
        Cache.Set("book:42", "Dune"u8);

        Assert.False(Cache.TryGet("book:42", new byte[3], out int bytesWritten));
        Assert.Equal(4, bytesWritten);
        Assert.False(Cache.TryGet("book:42", [], out bytesWritten));
        Assert.Equal(4, bytesWritten);
        Assert.True(Cache.TryGet("book:42", new byte[4], out bytesWritten));
        Assert.Equal(4, bytesWritten);
    }

    [Fact]
    public void Miss_reports_nothing()
    {
        Assert.False(Cache.TryGet("book:42", new byte[8], out int bytesWritten));
        Assert.Equal(0, bytesWritten);
        Assert.False(Cache.TryGet("book:42", new byte[8], out EntryInfo info));
        Assert.Equal(default, info);
        Assert.False(Cache.TryGetInfo("book:42", out info));
        Assert.Equal(default, info);
        Assert.Null(Cache.Get("book:42"));
        Assert.Null(Cache.GetString("book:42"));
        Assert.Null(Cache.OpenRead("book:42"));
        Assert.False(Cache.Contains("book:42"));
        Assert.False(Cache.TryPin("book:42", out PinnedValue? pinned));
        Assert.Null(pinned);
        Assert.False(Cache.Read("book:42", 0, (_, _, _) => Assert.Fail("There is no value to read.")));
    }

    [Fact]
    public void Empty_value_is_a_value()
    {
        Cache.Set("empty", []);

        Assert.True(Cache.TryGet("empty", [], out int bytesWritten));
        Assert.Equal(0, bytesWritten);
        Assert.Equal([], Cache.Get("empty")!);
        Assert.Equal("", Cache.GetString("empty"));
        Assert.True(Cache.Contains("empty"));
        using Stream? stream = Cache.OpenRead("empty");
        Assert.Equal(0, stream!.Length);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(511)]
    [InlineData(512)]
    [InlineData(513)]
    [InlineData(200_000)]
    [InlineData(300_000)]
    [InlineData(1 << 20)]
    public void Every_way_of_reading_gives_the_same_value(int length)
    {
        byte[] value = TestBytes.Of(length);
        Cache.Set("key", value, flags: 7);
        var destination = new byte[length];
        var writer = new ArrayBufferWriter<byte>();
        byte[] visited = [];

        Assert.True(Cache.TryGet("key", destination, out EntryInfo info));
        Assert.True(Cache.TryGet("key", writer, out EntryInfo writtenInfo));
        Assert.True(Cache.Read("key", 0, (bytes, _, _) => visited = bytes.ToArray()));
        Assert.True(Cache.TryPin("key", out PinnedValue? pinned));
        using (pinned)
        {
            Assert.Equal(value, pinned.Value.ToArray());
            Assert.Equal(info, pinned.Info);
        }

        Assert.Equal(value, destination);
        Assert.Equal(value, writer.WrittenSpan.ToArray());
        Assert.Equal(value, visited);
        Assert.Equal(value, Cache.Get("key"));
        Assert.Equal(info, writtenInfo);
        Assert.Equal(length, info.ValueBytes);
        Assert.Equal(7u, info.Flags);
        Assert.Equal(EntryType.Value, info.Type);
        using var copy = new MemoryStream();
        using Stream stream = Cache.OpenRead("key")!;
        stream.CopyTo(copy);
        Assert.Equal(value, copy.ToArray());
    }

    [Fact]
    public void Buffer_writer_gets_value_after_value_and_nothing_for_a_miss()
    {
        Cache.Set("a", "one"u8);
        Cache.Set("b", TestBytes.Of(1000));
        var writer = new ArrayBufferWriter<byte>(16);

        Assert.True(Cache.TryGet("a", writer));
        Assert.False(Cache.TryGet("missing", writer));
        Assert.True(Cache.TryGet("b", writer));

        Assert.Equal([.. "one"u8, .. TestBytes.Of(1000)], writer.WrittenSpan.ToArray());
    }

    [Fact]
    public void Text_is_read_as_utf_8_however_long_it_is()
    {
        string text = new('é', 5000);
        Cache.Set("text", System.Text.Encoding.UTF8.GetBytes(text));
        Cache.Set("not text", [0x41, 0xFF]);

        Assert.Equal(text, Cache.GetString("text"));
        Assert.Equal("A\uFFFD", Cache.GetString("not text"));
    }

    [Fact]
    public void Info_is_known_without_reading_the_value()
    {
        Cache.Set("key", TestBytes.Of(1234), TimeSpan.FromMinutes(5), flags: 0xFFFF_FFFF);

        Assert.True(Cache.TryGetInfo("key", out EntryInfo info));

        Assert.Equal(1234, info.ValueBytes);
        Assert.Equal(0xFFFF_FFFF, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromMinutes(5), info.ExpiresAt);
        Assert.Null(info.SlidingInterval);
        Assert.NotEqual(0ul, info.Version);
    }

    [Fact]
    public void Reader_is_called_with_the_state_that_was_passed()
    {
        Cache.Set("key", "value"u8, flags: 3);
        var seen = new List<string>();

        Cache.Read("key", seen, static (value, info, list) => list.Add($"{value.Length} {info.Flags}"));

        Assert.Equal(["5 3"], seen);
    }

    [Fact]
    public void Exception_of_a_reader_leaves_no_pin_behind()
    {
        Cache.Set("key", "value"u8);

        for (int i = 0; i < 100; i++)
        {
            Assert.Throws<FormatException>(() => Cache.Read("key", 0, (_, _, _) => throw new FormatException()));
        }

        Assert.True(Cache.TryPin("key", out PinnedValue? pinned));
        pinned.Dispose();
    }

    [Fact]
    public void Missing_arguments_are_refused()
    {
        Assert.Throws<ArgumentNullException>(() => Cache.TryGet("key", (IBufferWriter<byte>)null!));
        Assert.Throws<ArgumentNullException>(() => Cache.Read("key", 0, null!));
        Assert.Throws<ArgumentNullException>(() => Cache.Set("key", null!, 1));
    }

    [Fact]
    public void Value_can_be_read_and_given_a_new_expiration_in_one_call()
    {
        Cache.Set("key", "value"u8, TimeSpan.FromSeconds(10));
        var destination = new byte[5];

        Assert.True(Cache.TryGetAndTouch("key", TimeSpan.FromSeconds(60), destination, out EntryInfo info));
        Assert.False(Cache.TryGetAndTouch("missing", TimeSpan.FromSeconds(60), destination, out _));

        Assert.Equal("value"u8, destination);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(10), info.ExpiresAt);
        Cache.TryGetInfo("key", out EntryInfo touched);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(60), touched.ExpiresAt);
    }

    [Fact]
    public void Only_the_value_that_was_read_is_touched()
    {
        var clock = new ScriptedClock();
        CairnStore store = Open(Options with { TimeProvider = clock });
        CairnCollection cache = store.DefaultCollection;
        cache.Set("key", "old"u8);
        var destination = new byte[8];
        clock.AtNextLook(() => cache.Set("key", "newer"u8));

        Assert.True(cache.TryGetAndTouch("key", TimeSpan.FromHours(1), destination, out EntryInfo info));

        Assert.Equal("newer"u8, destination.AsSpan(0, info.ValueBytes));
        cache.TryGetInfo("key", out info);
        Assert.NotNull(info.ExpiresAt);
    }

    [Fact]
    public void Expiration_is_changed_also_if_the_destination_is_too_short()
    {
        Cache.Set("key", "value"u8, TimeSpan.FromSeconds(10));

        Assert.False(Cache.TryGetAndTouch("key", Expiration.None, new byte[4], out EntryInfo info));

        Assert.Equal(5, info.ValueBytes);
        Cache.TryGetInfo("key", out EntryInfo touched);
        Assert.Null(touched.ExpiresAt);
    }
}
