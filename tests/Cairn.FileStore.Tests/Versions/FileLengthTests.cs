using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Cairn.FileStore.Tests.Versions;

/// <summary>
/// The length of the file beside that of Net.DistributedFileStoreCache, which serializes an object of two dictionaries. The comparison
/// uses the encoder with the shortest result.
/// </summary>
public sealed class FileLengthTests : IDisposable
{
    private const double AtMost = 1.15;

    private static readonly JsonSerializerOptions s_shortest = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly CacheFile _file = new();
    private readonly Dictionary<string, string> _values = [];
    private readonly Dictionary<string, long> _expirations = [];

    public void Dispose() => _file.Dispose();

    [Theory]
    [InlineData(5, 10, 30)]
    [InlineData(100, 10, 30)]
    [InlineData(1000, 10, 30)]
    [InlineData(1000, 10, 10)]
    public void File_of_text_is_at_most_1_15_times_as_long_as_the_originals(int entries, int keyLength, int valueLength)
    {
        DistributedFileStoreCacheString cache = _file.Open();

        for (int i = 0; i < entries; i++)
        {
            string key = Text(i, keyLength);
            _values[key] = Text(i, valueLength);
            cache.Set(key, _values[key]);
        }

        AssertShort();
    }

    [Fact]
    public void File_of_entries_that_expire_is_at_most_1_15_times_as_long_as_the_originals()
    {
        DistributedFileStoreCacheString cache = _file.Open();

        for (int i = 0; i < 1000; i++)
        {
            string key = Text(i, 10);
            DateTimeOffset expires = DateTimeOffset.UtcNow.AddHours(1);
            _values[key] = Text(i, 30);
            _expirations[key] = expires.UtcTicks;
            cache.Set(key, _values[key], new() { AbsoluteExpiration = expires });
        }

        AssertShort();
    }

    [Fact]
    public void File_of_objects_is_at_most_1_15_times_as_long_as_the_originals()
    {
        DistributedFileStoreCacheClass cache = _file.OpenClass();

        for (int i = 0; i < 1000; i++)
        {
            string key = Text(i, 10);
            var value = new ClassTests.Inner { MyInt = i, MyString = "Grüße" };
            _values[key] = JsonSerializer.Serialize(value, s_shortest);
            cache.SetClass(key, value);
        }

        AssertShort();
    }

    [Fact]
    public void File_of_bytes_that_are_text_is_at_most_1_15_times_as_long_as_the_originals()
    {
        DistributedFileStoreCacheBytes cache = _file.OpenBytes();

        for (int i = 0; i < 1000; i++)
        {
            string key = Text(i, 10);
            _values[key] = JsonSerializer.Serialize(new ClassTests.Inner { MyInt = i, MyString = "Grüße" }, s_shortest);
            cache.Set(key, Encoding.UTF8.GetBytes(_values[key]), new());
        }

        AssertShort();
    }

    private static string Text(int number, int length) => $"{number}".PadLeft(length, 'x');

    private void AssertShort()
    {
        int original = JsonSerializer.SerializeToUtf8Bytes(new { Cache = _values, TimeOuts = _expirations }, s_shortest).Length;

        Assert.InRange((double)new FileInfo(_file.FilePath).Length / original, 0.5, AtMost);
    }
}
