namespace Cairn.TortureTests.PowerLoss;

/// <summary>Damages copies of disks that a loss of power left, and counts what came of it.</summary>
internal sealed class DamageCounts
{
    private const int Attempts = 2;

    /// <summary>How many damaged disks were refused.</summary>
    public int Refused { get; private set; }

    /// <summary>How many flips hit the end of the log, where nothing tells them from a torn tail.</summary>
    public int Unprovable { get; private set; }

    /// <summary>Fails unless damage is refused with advice, as often as it is tried, and nothing is lost once it is put right; or unless it loses nothing.</summary>
    /// <param name="image">What the loss of power left; it stays as it is.</param>
    /// <param name="durable">Below which position its files say that everything was on the disk.</param>
    /// <param name="random">Chooses the damage.</param>
    /// <param name="open">Opens the store in a directory, after a restart.</param>
    /// <param name="faultOf">What is wrong with what a store has; null if nothing is.</param>
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
