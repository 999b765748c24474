using System.Globalization;

namespace Cairn.TortureTests.Kills;

/// <summary>Where the files of a run are: the store, the journal, and what the processes found wrong.</summary>
/// <param name="Directory">The directory of the three.</param>
/// <param name="Workers">How many processes write, the test's own included.</param>
internal sealed record KillRun(string Directory, int Workers)
{
    public string StorePath => Path.Combine(Directory, "store.cairn");

    public string FaultsPath => Path.Combine(Directory, "faults");

    /// <summary>The faults that processes of the run have noted; they survive who noted them.</summary>
    public string Faults => File.Exists(FaultsPath) ? File.ReadAllText(FaultsPath) : "";

    public static KillRun Parse(string directory, string workers) => new(directory, int.Parse(workers, CultureInfo.InvariantCulture));

    public KillJournal OpenJournal() => new(Path.Combine(Directory, "journal"), Workers * KillWork.KeysPerWorker);

    public void Note(string fault) => File.AppendAllText(FaultsPath, fault + Environment.NewLine);
}
