namespace Cairn.TortureTests.PowerLoss;

/// <summary>Damages copies of disk images that a loss of power left, and counts the outcomes.</summary>
internal sealed class DamageCounts
{
    private const int Attempts = 2;

    /// <summary>Gets the number of damaged images that were refused.</summary>
    public int Refused { get; private set; }

    /// <summary>Gets the number of bit flips at the end of the log, where they cannot be distinguished from a torn tail.</summary>
    public int Unprovable { get; private set; }

    /// <summary>
    /// Checks that each damage loses nothing, or that every opening refuses it with advice. After the damage is undone, nothing is lost.
    /// </summary>
    /// <param name="image">The image that the loss of power left. It is not changed.</param>
    /// <param name="durable">The position up to which the files mark everything as durable.</param>
    /// <param name="random">Chooses the damage.</param>
    /// <param name="open">Opens the store in a directory, after a restart.</param>
    /// <param name="faultOf">Returns the fault of a store's content, or <see langword="null"/> without a fault.</param>
    public void Look(StoreDirectory image, long durable, Random random, Func<StoreDirectory, CairnStore> open, Func<CairnStore, string?> faultOf)
    {
        using StoreDirectory copy = CopyOf(image);
        if (ImageDamage.Do(copy.Path, random, durable) is not { } damage)
        {
            return;
        }

        string refusals = "";
        Unprovable += damage.IsProvable ? 0 : 1;
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            try
            {
                using CairnStore store = open(copy);
                if (damage.IsProvable && faultOf(store) is { } fault)
                {
                    throw new InvalidOperationException($"{damage.What}, and the store opens: {fault}");
                }

                return;
            }
            catch (StoreException refusal)
            {
                Assert.Contains("cairn restore", refusal.Message, StringComparison.Ordinal);
                refusals += $" Refused: {refusal.Message}";
            }
        }

        Refused++;
        damage.Undo();
        using CairnStore whole = open(copy);
        if (faultOf(whole) is { } loss)
        {
            using StoreDirectory other = CopyOf(image);
            using CairnStore untouched = open(other);
            refusals += $" Without the damage: {faultOf(untouched) ?? "nothing is lost"}; {string.Join(' ', untouched.Warnings)}. With it: {string.Join(' ', whole.Warnings)}.";

            throw new InvalidOperationException($"{damage.What}, was refused, and was put right: {loss}.{refusals}");
        }
    }

    private static StoreDirectory CopyOf(StoreDirectory image)
    {
        var copy = new StoreDirectory();
        foreach (string file in Directory.GetFiles(image.Path))
        {
            File.Copy(file, Path.Combine(copy.Path, Path.GetFileName(file)));
        }

        return copy;
    }
}
