namespace Cairn.Tests.Opening;

/// <summary>Existing files that are not stores.</summary>
public sealed class NotAStoreTests : StoreTest
{
    [Fact]
    public void Empty_file_is_no_store_that_exists()
    {
        File.WriteAllBytes(FilePath, []);

        Assert.Throws<StoreCorruptException>(() => Open(Options with { OpenMode = StoreOpenMode.OpenExisting }));

        Assert.Equal(0, new FileInfo(FilePath).Length);
    }

    [Fact]
    public void No_message_advises_to_delete_a_file_that_is_no_store()
    {
        File.WriteAllText(FilePath, new string('x', 8192));

        var refusal = Assert.Throws<StoreCorruptException>(() => Open(Options));

        Assert.Contains("is not a Cairn store", refusal.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("or delete", refusal.Message, StringComparison.Ordinal);
        Assert.Equal(8192, new FileInfo(FilePath).Length);
    }
}
