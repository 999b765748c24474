using System.Buffers;
using FsCheck;
using FsCheck.Fluent;

namespace Cairn.Cli.Tests;

/// <summary>An export and an import reproduce everything: keys, values, flags, expirations and collections.</summary>
public sealed class RoundTripTests : ToolTest
{
    private const int Runs = 60;

    private enum Expiry
    {
        None,
        Absolute,
        Sliding,
        SlidingWithLimit,
    }

    [Fact]
    public void Store_that_was_exported_and_imported_is_the_same_store()
    {
        // A failure prints the entries, shrunk, and the seed to replay them with.
        Prop.ForAll(Entries().ToArbitrary(), entries => ComesBack(entries)).Check(Config.QuickThrowOnFailure.WithMaxTest(Runs));
    }

    private bool ComesBack(Entry[] entries)
    {
        string source = PathOf("source.cairn");
        string target = PathOf("target.cairn");
        File.Delete(source);
        File.Delete(target);
        using (CairnStore store = CairnStore.Open(Options with { Path = source, CapacityBytes = 4 << 20 }))
        {
            foreach (Entry entry in entries)
            {
                CairnCollection collection = entry.Collection.Length == 0 ? store.DefaultCollection : store.Collection(entry.Collection);
                collection.Set(entry.Key, entry.Value, ToExpiration(entry), entry.Flags);
            }
        }

        ToolRun exported = Run("export", "--store", source);
        ToolRun imported = Run(exported.Bytes, "import", "--store", target, "--capacity", "4MiB");
        ToolRun exportedAgain = Run("export", "--store", target);

        return exported.Code == 0 && imported.Code == 0
            && Content(source).SequenceEqual(Content(target), StringComparer.Ordinal)
            && exported.Lines.Order(StringComparer.Ordinal).SequenceEqual(exportedAgain.Lines.Order(StringComparer.Ordinal), StringComparer.Ordinal);
    }

    // Returns all parts of every entry, read through the store's own API.
    private List<string> Content(string path)
    {
        var content = new List<string>();
        using CairnStore store = CairnStore.Open(Options with { Path = path });
        foreach (string name in (IEnumerable<string>)["", .. store.CollectionNames])
        {
            CairnCollection collection = name.Length == 0 ? store.DefaultCollection : store.Collection(name);
            foreach (StoreEntry entry in collection.Entries())
            {
                var value = new ArrayBufferWriter<byte>();
                Assert.True(collection.TryPeek(entry.Key.Span, value, out EntryInfo info));
                content.Add(
                    $"{name}/{Convert.ToHexString(entry.Key.Span)}={Convert.ToHexString(value.WrittenSpan)} {info.Flags} {info.ExpiresAt:O} " +
                    $"{info.SlidingInterval} {info.SlidingLimit:O}");
            }
        }

        content.Sort(StringComparer.Ordinal);
        return content;
    }

    private Expiration ToExpiration(Entry entry) => entry.Expiry switch
    {
        Expiry.Absolute => Expiration.At(Clock.GetUtcNow() + TimeSpan.FromMilliseconds(entry.Milliseconds)),
        Expiry.Sliding => Expiration.Sliding(TimeSpan.FromMilliseconds(entry.Milliseconds)),
        Expiry.SlidingWithLimit => Expiration.Sliding(
            TimeSpan.FromMilliseconds(entry.Milliseconds), Clock.GetUtcNow() + TimeSpan.FromMilliseconds(entry.LimitMs)),
        _ => Expiration.None,
    };

    private static Gen<Entry[]> Entries()
    {
        // Text and binary keys, with characters that JSON must escape, and byte sequences that are almost valid UTF-8.
        Gen<byte[]> text = Gen.Elements("a", "é", "😀", "\0", "\"", "\\", "\n", "\u2028", "\uFFFD", "/", "<")
            .ListOf().Select(parts => System.Text.Encoding.UTF8.GetBytes(string.Concat(parts)));
        Gen<byte[]> binary = Gen.Choose(0, 255).Select(value => (byte)value).ArrayOf();
        Gen<byte[]> bytes = Gen.OneOf(text, binary);
        Gen<byte[]> keys = bytes.Where(key => key.Length > 0);
        Gen<byte[]> values = Gen.Frequency((9, bytes), (1, Gen.Choose(0, 20_000).Select(length => TestBytes.Of(length))));
        return (from key in keys
                from value in values
                from collection in Gen.Elements("", "", "sessions", "Zürich \"1\"")
                from flags in Gen.OneOf(Gen.Constant(0U), Gen.Choose(int.MinValue, int.MaxValue).Select(number => (uint)number))
                from expiry in Gen.Elements(Enum.GetValues<Expiry>())
                from milliseconds in Gen.Choose(1, int.MaxValue)
                from limit in Gen.Choose(1, int.MaxValue)
                select new Entry(collection, key, value, flags, expiry, milliseconds, limit)).ArrayOf();
    }

    private sealed record Entry(string Collection, byte[] Key, byte[] Value, uint Flags, Expiry Expiry, int Milliseconds, int LimitMs)
    {
        public override string ToString() =>
            $"{Collection}/{Convert.ToHexString(Key)}={Convert.ToHexString(Value)} flags {Flags} {Expiry} {Milliseconds} {LimitMs}";
    }
}
