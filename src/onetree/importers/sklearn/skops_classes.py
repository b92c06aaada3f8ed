"""The classes that objects in a skops file may be of, by name."""


def known_classes() -> dict[str, type]:
    """Return the classes that are built, by name: tree ensembles, what they are made of and what stands around them."""
    from sklearn import dummy, ensemble, frozen, model_selection, pipeline, preprocessing, tree
    from sklearn._loss import link, loss
    from sklearn.ensemble._hist_gradient_boosting import binning, predictor

    classes: tuple[type, ...] = (
        tree.DecisionTreeClassifier,
        tree.DecisionTreeRegressor,
        tree.ExtraTreeClassifier,
        ensemble.RandomForestClassifier,
        ensemble.ExtraTreesClassifier,
        ensemble.BaggingClassifier,
        ensemble.AdaBoostClassifier,
        ensemble.VotingClassifier,
        ensemble.GradientBoostingClassifier,
        ensemble.HistGradientBoostingClassifier,
        tree.ExtraTreeRegressor,
        ensemble.RandomForestRegressor,
        ensemble.ExtraTreesRegressor,
        ensemble.BaggingRegressor,
        ensemble.GradientBoostingRegressor,
        ensemble.HistGradientBoostingRegressor,
        predictor.TreePredictor,
        binning._BinMapper,
        loss.HalfBinomialLoss,
        loss.HalfMultinomialLoss,
        loss.ExponentialLoss,
        loss.HalfSquaredError,
        loss.AbsoluteError,
        loss.HuberLoss,
        loss.PinballLoss,
        loss.HalfGammaLoss,
        loss.HalfPoissonLoss,
        link.IdentityLink,
        link.LogLink,
        link.LogitLink,
        link.HalfLogitLink,
        link.MultinomialLogit,
        link.Interval,
        dummy.DummyClassifier,
        dummy.DummyRegressor,
        preprocessing.LabelEncoder,
        pipeline.Pipeline,
        model_selection.GridSearchCV,
        model_selection.RandomizedSearchCV,
        frozen.FrozenEstimator,
        *_steps(),
    )
    return {cls.__name__: cls for cls in classes}


def _steps() -> tuple[type, ...]:
    """Return the steps that may stand before a model; which of them are read is not decided here.

    `SelectFromModel` is not among them: it has a model of its own, whose trees nobody checks before they are used.
    """
    from sklearn import compose, feature_selection, impute, pipeline, preprocessing

    return (
        compose.ColumnTransformer,
        feature_selection.GenericUnivariateSelect,
        feature_selection.RFE,
        feature_selection.RFECV,
        feature_selection.SelectFdr,
        feature_selection.SelectFpr,
        feature_selection.SelectFwe,
        feature_selection.SelectKBest,
        feature_selection.SelectPercentile,
        feature_selection.VarianceThreshold,
        impute.MissingIndicator,
        impute.SimpleImputer,
        pipeline.FeatureUnion,
        preprocessing.Binarizer,
        preprocessing.FunctionTransformer,
        preprocessing.KBinsDiscretizer,
        preprocessing.MaxAbsScaler,
        preprocessing.MinMaxScaler,
        preprocessing.OneHotEncoder,
        preprocessing.OrdinalEncoder,
        preprocessing.PowerTransformer,
        preprocessing.QuantileTransformer,
        preprocessing.RobustScaler,
        preprocessing.StandardScaler,
        preprocessing.TargetEncoder,
    )


def encoder_classes() -> dict[str, type]:
    """Return the classes that encode the categorical features of HistGradientBoosting, by name."""
    from sklearn import compose, preprocessing

    classes: tuple[type, ...] = (
        compose.ColumnTransformer,
        preprocessing.OrdinalEncoder,
        preprocessing.FunctionTransformer,
    )
    return {cls.__name__: cls for cls in classes}
