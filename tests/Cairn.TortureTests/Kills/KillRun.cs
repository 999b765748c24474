using System.Globalization;

namespace Cairn.TortureTests.Kills;

/// <summary>The paths of a run's files: the store, the journal, and the faults that the processes found.</summary>
/// <param name="Directory">The directory of the three files.</param>
/// <param name="Workers">The number of processes that write, including the test's own.</param>
internal sealed record KillRun(string Directory, int Workers)
{
    public string StorePath => Path.Combine(Directory, "store.cairn");

    public string FaultsPath => Path.Combine(Directory, "faults");

    /// <summary>Gets the faults that processes of the run have recorded. The faults survive the death of those processes.</summary>
    public string Faults => File.Exists(FaultsPath) ? File.ReadAllText(FaultsPath) : "";

    public static KillRun Parse(string directory, string workers) => new(directory, int.Parse(workers, CultureInfo.InvariantCulture));

    public KillJournal OpenJournal() => new(Path.Combine(Directory, "journal"), Workers * KillWork.KeysPerWorker);

    public void Note(string fault) => File.AppendAllText(FaultsPath, fault + Environment.NewLine);
}
