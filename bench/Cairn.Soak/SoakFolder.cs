using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;
using Cairn.Soak.Drift;
using Cairn.Soak.Measuring;

namespace Cairn.Soak;

/// <summary>The folder in which a soak test keeps its state between pieces.</summary>
internal sealed class SoakFolder
{
    private const string StateName = "state.json";
    private const string PiecesName = "pieces.jsonl";

    private readonly string _path;

    private SoakFolder(string path, SoakState state)
    {
        _path = path;
        State = state;
    }

    public SoakState State { get; private set; }

    /// <summary>Gets the path of the samples of all pieces, one on each line. A running piece appends to it.</summary>
    public string SamplesPath => Path.Combine(_path, "samples.csv");

    /// <summary>Opens a folder, or starts a soak test in a new one.</summary>
    public static SoakFolder Open(string path)
    {
        Directory.CreateDirectory(path);
        string state = Path.Combine(path, StateName);
        if (File.Exists(state))
        {
            return new SoakFolder(path, JsonSerializer.Deserialize(File.ReadAllText(state), SoakJson.Default.SoakState)!);
        }

        var folder = new SoakFolder(path, new SoakState(Random.Shared.Next(), 0, 0));
        folder.Save();
        return folder;
    }

    public string StorePath(string server) => Path.Combine(_path, server, "store.cairn");

    public IReadOnlyList<PieceSummary> Pieces()
    {
        string path = Path.Combine(_path, PiecesName);
        return File.Exists(path)
            ? [.. File.ReadLines(path).Select(line => JsonSerializer.Deserialize(line, SoakJson.Default.PieceSummary)!)]
            : [];
    }

    /// <summary>Records a piece that has ended. It writes the summary before the state, because a piece that is not counted runs again.</summary>
    public void Add(PieceSummary piece)
    {
        File.AppendAllText(Path.Combine(_path, PiecesName), JsonSerializer.Serialize(piece, SoakJson.Default.PieceSummary) + "\n");
        State = State with { Pieces = State.Pieces + 1, SecondsRun = State.SecondsRun + piece.Seconds };
        Save();
    }

    public void Append(ServerSample sample)
    {
        if (!File.Exists(SamplesPath))
        {
            File.WriteAllText(SamplesPath, ServerSample.Header + "\n");
        }

        File.AppendAllText(SamplesPath, sample.ToLine() + "\n");
    }

    /// <summary>Returns the samples of all pieces, including those of earlier calls.</summary>
    public IEnumerable<ServerSample> Samples() =>
        File.Exists(SamplesPath) ? File.ReadLines(SamplesPath).Skip(1).Select(ServerSample.Parse) : [];

    private void Save()
    {
        string path = Path.Combine(_path, StateName);
        string temporary = path + ".new";
        File.WriteAllText(temporary, JsonSerializer.Serialize(State, SoakJson.Default.SoakState));
        File.Move(temporary, path, overwrite: true);
    }
}

/// <param name="Seed">The seed of the soak test. Each piece derives its own seed from it.</param>
/// <param name="Pieces">The number of pieces that have ended.</param>
/// <param name="SecondsRun">The total duration of these pieces in seconds.</param>
internal sealed record SoakState(int Seed, int Pieces, double SecondsRun)
{
    public string Age => TimeSpan.FromSeconds(SecondsRun).ToString("h\\:mm\\:ss", CultureInfo.InvariantCulture);
}

[JsonSerializable(typeof(SoakState))]
[JsonSerializable(typeof(PieceSummary))]
internal sealed partial class SoakJson : JsonSerializerContext;
