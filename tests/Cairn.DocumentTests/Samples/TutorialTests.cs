namespace Cairn.DocumentTests.Samples;

/// <summary>The programs of the tutorial print what the tutorial shows.</summary>
public sealed class TutorialTests : SampleTest
{
    [Fact]
    public void Second_run_finds_what_the_first_left()
    {
        TutorialPrograms.FindOrStore();
        TutorialPrograms.FindOrStore();

        Assert.Equal("Stored. Run me again.\nFound Dune.\n", Output);
    }

    [Fact]
    public async Task Program_says_how_it_is_called()
    {
        await TutorialPrograms.ShopAsync([]);

        Assert.Equal("sell NAME, or watch\n", Output);
    }

    [Fact]
    public void Sellers_share_one_counter_and_a_third_process_watches()
    {
        using var ada = ChildProcess.Start(typeof(Program), "shop", "sell", "ada");
        Assert.Equal("ada sold number 1.", ada.ReadLine());
        ada.Kill();

        using var ben = ChildProcess.Start(typeof(Program), "shop", "sell", "ben");
        Assert.Equal("ben sold number 2.", ben.ReadLine());

        using var watcher = ChildProcess.Start(typeof(Program), "shop", "watch");
        Assert.EndsWith(" sold.", watcher.ReadLine(), StringComparison.Ordinal);
    }

    [Fact]
    public void One_process_writes_the_review_and_the_other_reads_it()
    {
        using var ada = ChildProcess.Start(typeof(Program), "review", "ada");
        Assert.Equal("ada writes a review, which takes a while.", ada.ReadLine());

        using var ben = ChildProcess.Start(typeof(Program), "review", "ben");

        Assert.Equal("ben reads: Sand, by ada", ben.ReadLine());
        Assert.Equal("ada reads: Sand, by ada", ada.ReadLine());
    }

    [Fact]
    public void Cache_of_titles_reads_again_after_a_change_by_another_process()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
        store.DefaultCollection.Set("book:42", "Dune"u8);

        using var reader = ChildProcess.Start(typeof(Program), "titles");
        Assert.Equal("(read book:42 from the store)", reader.ReadLine());
        Assert.Equal("Dune", reader.ReadLine());
        store.DefaultCollection.Set("book:42", "Dune Messiah"u8);

        string next = reader.ReadLine();
        while (next == "Dune")
        {
            next = reader.ReadLine();
        }

        Assert.Equal("(read book:42 from the store)", next);
        Assert.Equal("Dune Messiah", reader.ReadLine());
    }
}
