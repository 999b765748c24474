using Xunit.Abstractions;

namespace Cairn.TortureTests.Reference;

/// <summary>Compares every operation with a dictionary with deadlines, in thousands of random sequences.</summary>
public sealed class ReferenceTests(ITestOutputHelper output)
{
    [Fact]
    public void Store_agrees_with_a_dictionary_but_for_what_it_evicts() =>
        Run(new TortureRun(output), isKept: false);

    [Fact]
    public void Collection_that_is_kept_agrees_with_a_dictionary_also_in_what_it_has() =>
        Run(new TortureRun(output), isKept: true);

    [Fact]
    public void Encrypted_store_agrees_with_a_dictionary_but_for_what_it_evicts() =>
        Run(new TortureRun(output), isKept: false, StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes)));

    private static void Run(TortureRun run, bool isKept, StoreEncryption? encryption = null)
    {
        using var directory = new StoreDirectory();
        var buffer = new byte[1 << 20];
        for (int i = 0; i < TortureRun.Count(400, 100_000); i++)
        {
            int seed = TortureRun.SeedOf(run.Seed, i);
            using var sequence = new ReferenceRun(directory, $"{i}.cairn", buffer, seed, encryption, isKept);
            sequence.Run(run.Replay);
        }
    }
}
